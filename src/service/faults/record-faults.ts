import type { NetworkSettings } from '../../core/asset.ts'
import { type DepositRecord, recordWriter } from '../deposits/record.ts'
import type { DepositStatus, ServiceDepositRow } from '../tables.ts'
import type { DepositKnob } from './fault-table.ts'
import type { Faults } from './faults.ts'

export type FaultyRecordPage = {
  limit: number
  /** Takes up to one row more than the limit; also returns the row after which the next page starts. */
  cut(rows: readonly ServiceDepositRow[]): {
    rows: readonly ServiceDepositRow[]
    last: ServiceDepositRow | null
  }
  report(rows: readonly ServiceDepositRow[], networks: readonly NetworkSettings[]): DepositRecord[]
}

type Shift = 'repeat' | 'skip' | 'none'

/** Small, so that there are several pages even with few deposits. */
const driftingLimit = 5

/** Call once per page: it draws the faults of the page. */
export function openListing(faults: Faults, wanted: number): FaultyRecordPage {
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
    report: (rows, networks) => {
      const reported = rows.flatMap((row) => reportRecords(faults, row, networks))
      return isReordered ? reported.toReversed() : reported
    },
  }
}

/** A faulty cursor repeats or skips a record. */
function lastOf(
  rows: readonly ServiceDepositRow[],
  page: readonly ServiceDepositRow[],
  shift: Shift,
): ServiceDepositRow | null {
  if (shift === 'skip') return rows.at(-1) ?? null
  const wanted = shift === 'repeat' ? page.at(-2) : page.at(-1)
  return wanted ?? page.at(-1) ?? null
}

/** Also a second record that claims the payment; empty if the deposit is not listed. */
export function reportRecords(
  faults: Faults,
  row: ServiceDepositRow,
  networks: readonly NetworkSettings[],
): DepositRecord[] {
  const record = reportRecord(faults, row, networks)
  if (record === null) return []
  return faults.strikes('claimAgainRate', row) ? [record, ...claimAgain(record)] : [record]
}

/** Null if the deposit is not listed. */
function reportRecord(
  faults: Faults,
  row: ServiceDepositRow,
  networks: readonly NetworkSettings[],
): DepositRecord | null {
  // Depends only on the status, so that a removed record stays removed after a restart.
  const isRemoved = row.status !== 'detected' && row.status !== 'confirmed'
  if (faults.strikes('hideRecordRate', row)) return null
  if (isRemoved && faults.strikes('removeRecordRate', row)) return null
  const edits = recordEdits.filter(({ knob }) => faults.strikes(knob, row))
  return edits.reduce((record, { edit }) => edit(record, networks), recordWriter(networks)(row))
}

type Edit = (record: DepositRecord, networks: readonly NetworkSettings[]) => DepositRecord

const onAnotherNetwork: Edit = ({ source, ...record }, networks) => {
  const family = networks.find(({ name }) => name === source.network)?.family
  const other = networks.find((one) => one.family === family && one.name !== source.network)
  return { ...record, source: { ...source, network: other?.name ?? source.network } }
}

const recordEdits: readonly { knob: DepositKnob; edit: Edit }[] = [
  { knob: 'editRecordRate', edit: misstate },
  { knob: 'dropTransactionRate', edit: withoutTransaction },
  { knob: 'renameNetworkRate', edit: onAnotherNetwork },
  { knob: 'regressStatusRate', edit: regress },
  {
    knob: 'renameOwnerRate',
    edit: (record) => ({ ...record, owner: { ...record.owner, id: `${record.owner.id}-of-nobody` } }),
  },
]

export function regress(record: DepositRecord): DepositRecord {
  return record.status === 'forwarding' ? { ...record, status: 'confirmed' } : record
}

/** Only address, asset, amount and time identify the payment. Violates the type on purpose. */
export function withoutTransaction<Reported extends { source: { transaction: string } }>(
  reported: Reported,
): Reported {
  return { ...reported, source: { ...reported.source, transaction: null as unknown as string } }
}

/** More by a tenth, at least by one base unit. */
function misstate(record: DepositRecord): DepositRecord {
  const paid = BigInt(record.source.amount)
  const tenth = paid / 10n
  const stated = paid + (tenth > 0n ? tenth : 1n)
  return { ...record, source: { ...record.source, amount: stated.toString() } }
}

const finished: readonly DepositStatus[] = ['settled', 'credited']

export function claimAgain(record: DepositRecord): DepositRecord[] {
  return finished.includes(record.status) ? [{ ...record, id: againOf(record.id) }] : []
}

/** The reversed bytes of the first id. Applied twice it yields the first id, so nothing has to be stored. */
export function againOf(id: string): string {
  const start = id.indexOf('_') + 1
  const bytes = Buffer.from(id.slice(start), 'hex')
  return id.slice(0, start) + Buffer.from(bytes.toReversed()).toString('hex')
}
