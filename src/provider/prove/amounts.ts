import type { ChainTransfer } from '../../core/evidence.ts'
import { type Amount, formatAmount, parseAmount } from '../../core/money.ts'
import { isSaid, type SampleColumn, saidAt } from '../infer/columns.ts'
import { type DefaultPresence, textDraft } from '../infer/draft-fields.ts'
import type { Hints } from '../infer/hints.ts'
import { plainDecimal } from '../profile/compile-value.ts'
import type { FieldCandidate, FieldEvidence } from './proof.ts'
import {
  agrees,
  assetOf,
  columnsFor,
  countedAs,
  type FactRows,
  type SampleTable,
  valuesOf,
} from './sample-table.ts'

/** How an amount is stated; `decimals` if they are not those of the asset. */
type AmountReading = { as?: 'units'; decimals?: number | string }

/** The amount of one leg, and what speaks against a reading that only one column allows. */
export function amountField(
  columns: readonly SampleColumn[],
  rows: FactRows<ChainTransfer>,
  hints: Hints,
): { candidates: readonly FieldCandidate[]; values: number; valuesMin: number; doubt: string | null } {
  const sums = rows.flatMap(({ place, fact: { asset, amount } }) => {
    const decimals = assetOf(hints, asset)?.decimals
    return decimals === undefined ? [] : [{ place, fact: { amount, decimals } }]
  })
  const candidates = amountCandidates(columns, sums, 'required')
  return { candidates, values: sumsSeen(sums), valuesMin: 3, doubt: scaleDoubt(candidates, sums, hints) }
}

/** Base units of one asset may be those of every asset, or not. */
function scaleDoubt(
  candidates: readonly FieldCandidate[],
  sums: FactRows<StatedSum>,
  { networks }: Hints,
): string | null {
  const scales = new Set(networks.flatMap(({ assets }) => assets.map(({ decimals }) => decimals)))
  const isOfOneScale = valuesOf(sums, ({ decimals }) => `${decimals}`) < Math.min(2, scales.size)
  const isScaled = !candidates.some(({ label }) => label.endsWith(unitsLabel))
  return isScaled && isOfOneScale ? 'only assets with the same decimals were seen' : null
}

/** Different ones, in units. */
function sumsSeen(sums: FactRows<StatedSum>): number {
  return valuesOf(sums, ({ amount, decimals }) => formatAmount(amount, decimals).replace(/\.?0+$/, ''))
}

type StatedSum = { amount: bigint; decimals: number }

const unitsLabel = ' in units'

/** A column is listed once, by the first reading of it under which every amount agrees. */
function amountCandidates(
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
function sumOf(text: string, decimals: number): Amount | null {
  try {
    return parseAmount(plainDecimal(text), decimals)
  } catch {
    return null
  }
}

/** The difference between payment and delivery, of deposits that were not converted. */
export function feeField(
  table: SampleTable,
  hints: Hints,
): { candidates: readonly FieldCandidate[]; evidence: Omit<FieldEvidence, 'drafted'> } {
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
      doubt: isConverted
        ? 'of converted deliveries, the asset of the fee is not known'
        : scaleDoubt(candidates, sums, hints),
    },
  }
}
