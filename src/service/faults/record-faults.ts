import type { DepositRecord } from '../deposits/record.ts'
import type { DepositRow } from '../tables.ts'
import type { DepositKnob } from './fault-table.ts'
import type { Faults } from './faults.ts'

/** One page of the list, with the errors that strike it. */
export type Listing = {
  /** How many records the page holds at most. */
  limit: number
  /** Of one row more than the limit, where there are as many: those of the page, and the one to go on after. */
  cut(rows: readonly DepositRow[]): { rows: readonly DepositRow[]; last: DepositRow | null }
  /** The records of the page as they are listed. */
  tell(rows: readonly DepositRow[], show: (row: DepositRow) => DepositRecord): DepositRecord[]
}

type Shift = 'repeat' | 'skip' | 'none'

/** Few enough that pages follow each other, even where there are not many deposits. */
const driftingLimit = 5

/** Call it once per page: what strikes the page is drawn here. */
export function openListing(faults: Faults, wanted: number): Listing {
  const isDrifting = faults.strikesRequest('driftPageRate')
  const isReordered = faults.strikesRequest('reorderRecordsRate')
  const limit = isDrifting ? Math.min(wanted, driftingLimit) : wanted
  const shift: Shift = isDrifting ? faults.pick<Shift>('drift', ['repeat', 'skip']) : 'none'
  return {
    limit,
    cut: (rows) => {
      const page = rows.slice(0, limit)
      return { rows: page, last: rows.length > limit ? lastOf(rows, page, shift) : null }
    },
    tell: (rows, show) => {
      const told = rows.map((row) => tellRecord(faults, row, show)).filter((record) => record !== null)
      return isReordered ? told.toReversed() : told
    },
  }
}

/** The next page begins with the last record of this one, or after one that no page holds. */
function lastOf(rows: readonly DepositRow[], page: readonly DepositRow[], shift: Shift): DepositRow | null {
  if (shift === 'skip') return rows.at(-1) ?? null
  const wanted = shift === 'repeat' ? page.at(-2) : page.at(-1)
  return wanted ?? page.at(-1) ?? null
}

/** The record as it is listed; null where the deposit is not listed. */
export function tellRecord(
  faults: Faults,
  row: DepositRow,
  show: (row: DepositRow) => DepositRecord,
): DepositRecord | null {
  // By the status alone: a service that starts again goes on to list none of what was gone.
  const isRemoved = row.status !== 'detected' && row.status !== 'confirmed'
  if (faults.strikes('hideRecordRate', row)) return null
  if (isRemoved && faults.strikes('removeRecordRate', row)) return null
  const edits = recordEdits.filter(({ knob }) => faults.strikes(knob, row))
  return edits.reduce((record, { edit }) => edit(record), show(row))
}

const recordEdits: readonly { knob: DepositKnob; edit: (record: DepositRecord) => DepositRecord }[] = [
  { knob: 'editRecordRate', edit: misstate },
  { knob: 'dropTransactionRate', edit: withoutTransaction },
  {
    knob: 'renameOwnerRate',
    edit: (record) => ({ ...record, owner: { ...record.owner, id: `${record.owner.id}-of-nobody` } }),
  },
]

/** Which payment it was is left to address, asset, amount and time. A fault breaks the promise of the type. */
export function withoutTransaction<Told extends { source: { transaction: string } }>(told: Told): Told {
  return { ...told, source: { ...told.source, transaction: null as unknown as string } }
}

/** Another amount than was paid: a tenth more, and at least one unit more. */
export function misstate(record: DepositRecord): DepositRecord {
  const paid = BigInt(record.source.amount)
  const tenth = paid / 10n
  const stated = paid + (tenth > 0n ? tenth : 1n)
  return { ...record, source: { ...record.source, amount: stated.toString() } }
}
