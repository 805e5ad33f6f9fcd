import type { ExactNumber } from '../core/value.ts'
import type { Lot } from './lots.ts'

/** What a journal changes of an account in an asset, in base units; debits positive, never zero. */
export type UnitChange = {
  account: string
  asset: string
  units: bigint
  /** Of one base unit, in the smallest coins of the currency. */
  price: ExactNumber
}

export type JournalToValue = {
  id: bigint
  eventAt: Date
  depositId: bigint | null
  /** One per account and asset. */
  changes: readonly UnitChange[]
  /** Of an opening: what own units cost. Others enter at their market value. */
  lots: readonly OpeningLot[]
  reverses: (ValuedJournal & { id: bigint }) | null
}

export type OpeningLot = Pick<Lot, 'account' | 'asset' | 'acquiredAt' | 'units' | 'cost'>

/** The asset is null of gains and of rounding. The value is in the smallest coins; debits positive. */
export type ValuedLine = { account: string; asset: string | null; units: bigint; value: bigint }

/** Own units that were given away. Those of a reversal are negative. */
export type Disposal = Pick<Lot, 'account' | 'asset' | 'origin' | 'acquiredAt' | 'units' | 'cost'> & {
  proceeds: bigint
}

/** The values of the lines sum to zero. */
export type ValuedJournal = { lines: readonly ValuedLine[]; disposals: readonly Disposal[] }
