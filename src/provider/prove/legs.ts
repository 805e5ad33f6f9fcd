import { assetCode } from '../../core/asset.ts'
import type { ChainTransfer } from '../../core/evidence.ts'
import { hasForm, isSaid, type SampleColumn, saidAt, wordsOf } from '../infer/columns.ts'
import { textDraft } from '../infer/draft-fields.ts'
import { comparable, type Hints, networkOfWord } from '../infer/hints.ts'
import { type LegSide, networkNames } from '../infer/rules.ts'
import { amountField } from './amounts.ts'
import { candidateOf, type FieldCandidate, type FieldEvidence } from './proof.ts'
import {
  agrees,
  assetOf,
  columnsFor,
  countedAs,
  decidedRows,
  type FactRows,
  type LegTable,
  type SampleTable,
  tableOfLeg,
  valuesOf,
} from './sample-table.ts'

type LegField = {
  name: string
  candidates: readonly FieldCandidate[]
  evidence: Omit<FieldEvidence, 'drafted'>
}

/** How the fields of one leg can be read so that every transfer that the chains show agrees. */
export function legFields(side: LegSide, records: SampleTable, hints: Hints): LegField[] {
  const table = tableOfLeg(side, records)
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
  const [networkCount, assetCount] = [values(({ network }) => network), values(({ asset }) => asset)]
  const nativeDoubt = rows.every(({ fact }) => isNative(fact)) ? `only native coins were ${paid}` : null
  const amount = legAmount(side, records, hints)
  const addressesOfLeg = side === 'deposit' ? 'deposit addresses' : 'recipients'
  return [
    field('transaction', transactions(leg), {
      values: leg.deposits,
      by: `paid ${addressesOfLeg} of the address book; ${seen}`,
    }),
    field('address', addresses(of('address'), rows), {
      values: values(({ to }) => to),
      by: `received what was ${paid} on the chain; ${seen}`,
    }),
    field('network', networks(of('network'), rows, { side, hints }), {
      values: networkCount,
      by: `the network that has the transaction; ${seen}`,
      doubt: chanceDoubt(leg.deposits, networkCount),
    }),
    field('asset', assets(of('asset'), rows, hints), {
      values: assetCount,
      by: `the asset that was ${paid} on the chain; ${seen}`,
      doubt: nativeDoubt ?? chanceDoubt(leg.deposits, assetCount),
    }),
    field('amount', amount.candidates, { ...amount, by: `the amount ${paid} on the chain; ${seen}` }),
    field('index', indexes(of('index'), rows), {
      values: values(({ index }) => index),
      valuesMin: 3,
      by: `the index of the transfer on the chain; ${seen}`,
    }),
  ].filter(({ name }) => side === 'deposit' || name !== 'index')
}

export function refundField({ refunds }: SampleTable): Omit<LegField, 'name'> {
  const { deposits, without } = refunds
  const by = `returned the payment to its payer; ${deposits} refunds`
  return {
    candidates: transactions(refunds),
    evidence: { deposits, values: deposits, by, without },
  }
}

type LegAmount = ReturnType<typeof amountField>

/** Of payouts in a list: each of its own, or else all of a record together. */
function legAmount(side: LegSide, records: SampleTable, hints: Hints): LegAmount {
  const read = (table: SampleTable) =>
    amountField(columnsFor(table, `${side}.amount`), decidedRows(table.legs[side].transfers), hints)
  const table = tableOfLeg(side, records)
  if (table === records) return read(records)
  const amount = read(table)
  const candidates = amount.candidates.filter(({ column }) => column.path.includes('*'))
  return candidates.length > 0 ? { ...amount, candidates } : read(records)
}

/** Words that come once each correspond with anything. */
function chanceDoubt(deposits: number, values: number): string | null {
  return deposits < 2 * values ? 'most words were seen only once' : null
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
  { side, hints }: { side: LegSide; hints: Hints },
): FieldCandidate[] {
  const isKnown = (column: SampleColumn) =>
    saidAt(column).every(({ text }) => networkOfWord(hints, text) !== null)
  const fitting = columns.filter((column) => isNetworkColumn(column, rows))
  // What is first is taken if nothing decides, and marked as unsure.
  return fitting
    .toSorted(
      (one, other) =>
        Number(isKnown(other)) - Number(isKnown(one)) ||
        Number(isNamedNetwork(other)) - Number(isNamedNetwork(one)),
    )
    .map((column) => {
      const isCredit = side === 'settlement' && column.leaves.some((leaf) => !isSaid(leaf))
      const draft = textDraft(column, 'required', isCredit ? { otherwise: 'stable-wallet' } : {})
      return candidateOf(column, draft)
    })
}

function isNamedNetwork({ path }: SampleColumn): boolean {
  const { last, before } = wordsOf(path)
  return [...last, ...before].some((word) => networkNames.includes(word))
}

function isNetworkColumn(column: SampleColumn, rows: FactRows<ChainTransfer>): boolean {
  if ((['address', 'transaction', 'time'] as const).some((form) => hasForm(column, form))) return false
  return hasForm(column, 'token') && pairsOf(column, rows, ({ network }) => network) !== null
}

/** Their word to ours; null unless they correspond one to one. */
function pairsOf(
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
      !hasForm(column, 'time') &&
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

function indexes(columns: readonly SampleColumn[], rows: FactRows<ChainTransfer>): FieldCandidate[] {
  return columns
    .filter((column) => agrees(column, rows, (text, { index }) => text === index))
    .map((column) => candidateOf(column, textDraft(column, 'optional')))
}
