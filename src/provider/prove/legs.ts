import { type Asset, assetCode, type NetworkSettings } from '../../core/asset.ts'
import type { ChainTransfer } from '../../core/evidence.ts'
import { type Amount, formatAmount, parseAmount } from '../../core/money.ts'
import { hasForm, isSaid, type SampleColumn, saidAt } from '../infer/columns.ts'
import { type DefaultPresence, textDraft } from '../infer/draft-fields.ts'
import { comparable, type Hints } from '../infer/hints.ts'
import type { LegSide } from '../infer/rules.ts'
import { plainDecimal } from '../profile/compile-value.ts'
import { candidateOf, type FieldCandidate, type FieldEvidence } from './proof.ts'
import { agrees, columnsFor, decidedRows, type FactRows, type LegTable, type SampleTable } from './sample-table.ts'

export type LegField = {
  name: string
  candidates: readonly FieldCandidate[]
  evidence: Omit<FieldEvidence, 'drafted'>
}

/** How the fields of one leg can be read so that every transfer that the chains show agrees. */
export function legFields(side: LegSide, table: SampleTable, hints: Hints): LegField[] {
  const leg = table.legs[side]
  const rows = decidedRows(leg.transfers)
  const field = (
    name: string,
    candidates: readonly FieldCandidate[],
    evidence: Pick<FieldEvidence, 'values' | 'by'> & Partial<FieldEvidence>,
  ): LegField => ({
    name,
    candidates,
    evidence: { deposits: leg.deposits, without: leg.without, ...evidence },
  })
  const of = (name: string) => columnsFor(table, `${side}.${name}`)
  const [paid, seen] = [side === 'deposit' ? 'paid' : 'delivered', countedAs(leg, side)]
  const values = (value: (transfer: ChainTransfer) => string) => valuesOf(rows, value)
  return [
    field('transaction', transactions(leg), {
      values: leg.deposits,
      by: `${side === 'deposit' ? 'paid deposit addresses' : 'paid recipients'} of the address book; ${seen}`,
    }),
    field('address', addresses(of('address'), rows), {
      values: values(({ to }) => to),
      by: `received what was ${paid} on the chain; ${seen}`,
    }),
    field('network', networks(of('network'), rows, side), {
      values: values(({ network }) => network),
      by: `the network that has the transaction; ${seen}`,
    }),
    field('asset', assets(of('asset'), rows, hints), {
      values: values(({ asset }) => asset),
      by: `the asset that was ${paid} on the chain; ${seen}`,
    }),
    ...amountFields(of('amount'), rows, { hints, field, by: `the amount ${paid} on the chain; ${seen}` }),
    field('index', side === 'deposit' ? indexes(of('index'), rows) : [], {
      values: values(({ index }) => index),
      valuesMin: 3,
      by: `the index of the transfer on the chain; ${seen}`,
    }),
  ].filter(({ name }) => side === 'deposit' || name !== 'index')
}

export function countedAs({ deposits }: LegTable, side: LegSide): string {
  return `${deposits} ${side === 'deposit' ? 'payments' : 'deliveries'}`
}

export function valuesOf<Fact>(rows: FactRows<Fact>, value: (fact: Fact) => string): number {
  return new Set(rows.map(({ fact }) => value(fact))).size
}

function transactions({ columns }: LegTable): FieldCandidate[] {
  return columns.map((column) => candidateOf(column, textDraft(column, 'optional')))
}

function addresses(columns: readonly SampleColumn[], rows: FactRows<ChainTransfer>): FieldCandidate[] {
  return columns
    .filter((column) => agrees(column, rows, (text, { to }) => comparable(text) === to))
    .map((column) => candidateOf(column, textDraft(column, 'required')))
}

/** One word per network and one network per word; an address or a transaction is no word. */
function networks(
  columns: readonly SampleColumn[],
  rows: FactRows<ChainTransfer>,
  side: LegSide,
): FieldCandidate[] {
  return columns
    .filter((column) => isNetworkColumn(column, rows))
    .map((column) => {
      const isCredit = side === 'settlement' && column.leaves.some((leaf) => !isSaid(leaf))
      const draft = textDraft(column, 'required', isCredit ? { otherwise: 'stable-wallet' } : {})
      return candidateOf(column, draft)
    })
}

function isNetworkColumn(column: SampleColumn, rows: FactRows<ChainTransfer>): boolean {
  if ((['address', 'transaction', 'time'] as const).some((form) => hasForm(column, form))) return false
  return hasForm(column, 'token') && pairsOf(column, rows, ({ network }) => network) !== null
}

/** Their word to ours; null unless they correspond one to one. */
export function pairsOf(
  column: SampleColumn,
  rows: FactRows<ChainTransfer>,
  ours: (transfer: ChainTransfer) => string,
): Map<string, string> | null {
  const pairs = new Map<string, string>()
  const isAgreed = agrees(column, rows, (text, transfer) => {
    const known = pairs.get(text) ?? ours(transfer)
    pairs.set(text, known)
    return known === ours(transfer)
  })
  return isAgreed && new Set(pairs.values()).size === pairs.size ? pairs : null
}

/** By contract, if a column names it; otherwise by symbol; otherwise by a word of the service. */
function assets(
  columns: readonly SampleColumn[],
  rows: FactRows<ChainTransfer>,
  hints: Hints,
): FieldCandidate[] {
  const native = rows.filter(({ fact }) => isNative(fact))
  const tokens = rows.filter(({ fact }) => !isNative(fact))
  const contracts = columns
    .filter((column) => agrees(column, tokens, (text, { asset }) => comparable(text) === assetCode(asset)))
    .filter(({ leaves }) => native.every(({ place }) => !isSaid(leaves[place])))
    .map((column) => {
      const isSilent = column.leaves.some((leaf) => !isSaid(leaf))
      return candidateOf(column, textDraft(column, 'required', isSilent ? { otherwise: 'native' } : {}))
    })
  if (contracts.length > 0) return contracts
  const symbolOf = ({ asset }: ChainTransfer) => assetOf(hints, asset)?.symbol
  const symbols = columns.filter((column) => agrees(column, rows, (text, one) => text === symbolOf(one)))
  const words = columns.filter(
    (column) =>
      !symbols.includes(column) &&
      hasForm(column, 'word') &&
      !isNetworkColumn(column, rows) &&
      pairsOf(column, rows, (one) => symbolOf(one) ?? '') !== null,
  )
  return [...symbols, ...words].map((column) =>
    candidateOf(column, textDraft(column, 'required', { as: 'symbol' })),
  )
}

function isNative({ asset }: ChainTransfer): boolean {
  return assetCode(asset) === 'native'
}

export function assetOf({ networks: all }: Pick<Hints, 'networks'>, key: string): Asset | undefined {
  return all.flatMap((one: NetworkSettings) => one.assets).find((asset) => asset.key === key)
}

function indexes(columns: readonly SampleColumn[], rows: FactRows<ChainTransfer>): FieldCandidate[] {
  return columns
    .filter((column) => agrees(column, rows, (text, { index }) => text === index))
    .map((column) => candidateOf(column, textDraft(column, 'optional')))
}

/** How an amount is stated; `decimals` if they are not those of the asset. */
export type AmountReading = { as?: 'units'; decimals?: number | string }

type AmountFieldContext = {
  hints: Hints
  field: (
    name: string,
    candidates: readonly FieldCandidate[],
    evidence: Pick<FieldEvidence, 'values' | 'by'> & Partial<FieldEvidence>,
  ) => LegField
  by: string
}

function amountFields(
  columns: readonly SampleColumn[],
  rows: FactRows<ChainTransfer>,
  { hints, field, by }: AmountFieldContext,
): LegField[] {
  const sums = rows.flatMap(({ place, fact: { asset, amount } }) => {
    const decimals = assetOf(hints, asset)?.decimals
    return decimals === undefined ? [] : [{ place, fact: { amount, decimals } }]
  })
  const candidates = amountCandidates(columns, sums, 'required')
  const scales = new Set(hints.networks.flatMap(({ assets: all }) => all.map(({ decimals }) => decimals)))
  const isOfOneScale = valuesOf(sums, ({ decimals }) => `${decimals}`) < Math.min(2, scales.size)
  const isScaled = !candidates.some(({ label }) => label.endsWith(unitsLabel))
  const doubt = isScaled && isOfOneScale ? 'only assets with the same decimals were seen' : null
  return [field('amount', candidates, { values: sumsSeen(sums), valuesMin: 3, by, doubt })]
}

/** Different ones, in units. */
function sumsSeen(sums: FactRows<StatedSum>): number {
  return valuesOf(sums, ({ amount, decimals }) => formatAmount(amount, decimals).replace(/\.?0+$/, ''))
}

export type StatedSum = { amount: bigint; decimals: number }

const unitsLabel = ' in units'

/** A column is listed once, by the first reading of it under which every amount agrees. */
export function amountCandidates(
  columns: readonly SampleColumn[],
  sums: FactRows<StatedSum>,
  usual: DefaultPresence,
): FieldCandidate[] {
  return columns
    .filter((column) => saidAt(column).every(({ text }) => numeral.test(text)))
    .flatMap((column) => {
      const reading = readingsFor(columns).find((one) => agreesAs(column, sums, { ...one, columns }))
      if (reading === undefined) return []
      const label = column.path + (reading.as === 'units' ? unitsLabel : '') + decimalsLabel(reading.decimals)
      return [{ column, draft: textDraft(column, usual, reading), label }]
    })
}

const numeral = /^\d{1,80}(?:\.\d{1,80})?(?:[eE][+-]?\d{1,2})?$/

function decimalsLabel(decimals: AmountReading['decimals']): string {
  return decimals === undefined ? '' : ` with decimals ${decimals}`
}

const decimalsMax = 38

function readingsFor(columns: readonly SampleColumn[]): AmountReading[] {
  const stated = columns.filter((column) => saidAt(column).every(({ text }) => /^\d{1,2}$/.test(text)))
  return [
    {},
    { as: 'units' },
    ...Array.from({ length: decimalsMax + 1 }, (_, decimals) => ({ decimals })),
    ...stated.map(({ path }) => ({ decimals: path })),
  ]
}

type ReadingContext = AmountReading & { columns: readonly SampleColumn[] }

function agreesAs(
  column: SampleColumn,
  sums: FactRows<StatedSum>,
  { as, decimals: own, columns }: ReadingContext,
): boolean {
  const stated = typeof own === 'string' ? columns.find(({ path }) => path === own) : undefined
  return agrees(
    column,
    sums.map(({ place, fact }) => ({ place, fact: { ...fact, place } })),
    (text, fact) => {
      const { amount, decimals, place } = fact
      if (as === 'units') return sumOf(text, decimals) === amount
      const digits = typeof own === 'string' ? Number(stated?.leaves[place]?.text ?? Number.NaN) : own
      if (digits === undefined) return sumOf(text, 0) === amount
      if (!Number.isInteger(digits) || digits > decimalsMax) return false
      const sum = sumOf(text, 0)
      return sum !== null && sum * 10n ** BigInt(decimals) === amount * 10n ** BigInt(digits)
    },
  )
}

/** Null if the text has more digits than the asset. */
export function sumOf(text: string, decimals: number): Amount | null {
  try {
    return parseAmount(plainDecimal(text), decimals)
  } catch {
    return null
  }
}

/** The difference between payment and delivery, of deposits that were not converted. */
export function feeField(table: SampleTable, hints: Hints): Omit<LegField, 'name'> {
  const { legs } = table
  const pairs = legs.deposit.transfers.flatMap((paid, place) => {
    const delivered = legs.settlement.transfers[place]
    const [from, to] = [paid && assetOf(hints, paid.asset), delivered && assetOf(hints, delivered.asset)]
    return paid && delivered && from && to ? [{ place, paid, delivered, from, to }] : []
  })
  const kept = pairs.filter(({ from, to }) => from.symbol === to.symbol)
  const sums = kept.flatMap(({ place, paid, delivered, from, to }) => {
    const amount = paid.amount * 10n ** BigInt(to.decimals) - delivered.amount * 10n ** BigInt(from.decimals)
    const scale = 10n ** BigInt(from.decimals)
    return amount < 0n || amount % scale !== 0n
      ? []
      : [{ place, fact: { amount: amount / scale, decimals: to.decimals } }]
  })
  const candidates = amountCandidates(columnsFor(table, 'settlement.fee'), sums, 'optional')
  const converted = pairs.filter(({ from, to }) => from.symbol !== to.symbol)
  const isConverted = candidates.some(({ column }) =>
    converted.some(({ place }) => isSaid(column.leaves[place])),
  )
  return {
    candidates,
    evidence: {
      deposits: new Set(kept.map(({ delivered }) => delivered.tx)).size,
      values: sumsSeen(sums),
      valuesMin: 3,
      by: `payment less delivery on the chain; ${countedAs(legs.settlement, 'settlement')}`,
      without: pairs.length === 0 ? legs.settlement.without : 'every delivery was converted',
      doubt: isConverted ? 'of converted deliveries, the asset of the fee is not known' : null,
    },
  }
}
