import { assert, Fault } from '../../core/errors.ts'
import { ExportFolder } from '../../ledger/export/export-folder.ts'
import {
  type AssetTotal,
  type ExportedAsset,
  type ExportedJournal,
  type ExportedTransfer,
  Tally,
  type TallyState,
} from '../../ledger/export/exported-journal.ts'
import { type ExportFormatName, formatOf } from '../../ledger/export/formats.ts'
import { commodityOf } from '../../ledger/export/plain-text.ts'
import { type AssetNames, readAssetNames } from '../../store/assets.ts'
import type { Database } from '../../store/database.ts'
import { accountsUnder, isOwner, readAccountLabels } from '../../store/ledger/accounts.ts'
import {
  type LedgerJournalRow,
  type LedgerTransferRow,
  readExtent,
  readJournals,
} from '../../store/ledger/export-journals.ts'
import type { Tables } from '../../store/tables.ts'

/** Times are ISO 8601 with a zone. Null means no filter. */
export type ExportSelection = {
  from: string | null
  before: string | null
  period: string | null
  recordedAsOf: string | null
  account: string | null
  owner: string | null
}

export type ExportWish = {
  format: ExportFormatName
  selection: ExportSelection
  folder: string
  resume: boolean
  paging?: { size: number; pagesPerCheckpoint: number }
  onProgress: (progress: ExportProgress) => void
}

export type ExportProgress = { journals: string; at: bigint; of: bigint }

/** The content does not depend on the time of the export, unless its note says so. */
export type Manifest = {
  version: 1
  format: ExportFormatName
  selection: ExportSelection
  note?: string
  file: { name: string; bytes: number; sha256: string }
  journals: string
  transfers: string
  totals: AssetTotal[]
}

type ExportCheckpoint = {
  format: ExportFormatName
  wished: ExportSelection
  recordedAsOf: string | null
  lastJournal: string
  after: string
  tally: TallyState
}

type Course = {
  recordedAsOf: string | null
  lastJournal: bigint
  after: bigint
  tally: Tally
  assetOf: (key: string) => ExportedAsset
}

const usualPaging = { size: 2000, pagesPerCheckpoint: 25 }

/**
 * Ordered by number, page by page, so memory does not grow. Only journals recorded before it began are read, so a
 * repeated export has the same bytes.
 * @throws Fault `usage_bad` if the account or owner does not exist, or the folder cannot be used
 */
export async function exportLedger(db: Database<Tables>, wish: ExportWish): Promise<Manifest> {
  const labels = await readAccountLabels(db)
  const format = formatOf(wish.format, (account) => labels.get(account) ?? { code: null, name: null })
  const { size, pagesPerCheckpoint } = wish.paging ?? usualPaging
  const accounts = await requiredAccounts(db, wish.selection)
  await using folder = await ExportFolder.open<ExportCheckpoint>(wish.folder, {
    file: format.file,
    resume: wish.resume,
  })
  const course = await courseOf(db, wish, folder.resumed)
  if (folder.resumed === null) await folder.write(format.head)
  const selection = { ...wish.selection, recordedAsOf: course.recordedAsOf }
  for (let isLast = false, pages = 1; !isLast; pages++) {
    const read = await readJournals(db, { ...selection, accounts }, { after: course.after, limit: size })
    const journals = joined(read, course.assetOf)
    await folder.write(journals.map(format.journal).join(''))
    isLast = journals.length < size
    moveOn(course, journals, isLast)
    wish.onProgress({
      journals: course.tally.counts().journals,
      at: course.after,
      of: course.lastJournal,
    })
    if (pages % pagesPerCheckpoint === 0) await folder.checkpoint(stateOf(wish, course))
  }
  // Allows a resume from any interruption until the manifest.
  await folder.checkpoint(stateOf(wish, course))
  await folder.write(format.tail(course.tally.used()))
  return folder.finish((file) => ({
    version: 1 as const,
    format: wish.format,
    selection,
    ...(selection.owner === null ? {} : { note: ownedNow }),
    file,
    ...course.tally.counts(),
    totals: course.tally.totals(),
  }))
}

const ownedNow =
  'journals were selected by the owner of their deposit at the time of the export; a deposit may have had another owner before'

async function requiredAccounts(
  db: Database<Tables>,
  { account, owner }: ExportSelection,
): Promise<string[] | null> {
  if (owner !== null && !(await isOwner(db, owner)))
    throw new Fault('usage_bad', {
      problem: `--owner: no channel or wallet ${JSON.stringify(owner)}`,
      fix: 'use an id from "bin/depositd channels list" or "bin/depositd wallets list"',
    })
  if (account === null) return null
  const accounts = await accountsUnder(db, account)
  if (accounts.length > 0) return accounts
  throw new Fault('usage_bad', {
    problem: `--account: no account ${JSON.stringify(account)}`,
    fix: 'use one from "bin/depositd ledger balances", or a prefix up to a colon',
  })
}

async function courseOf(
  db: Database<Tables>,
  wish: ExportWish,
  begun: ExportCheckpoint | null,
): Promise<Course> {
  const names = await readAssetNames(db)
  const assetOf = assetReader(names)
  if (begun === null) {
    const extent = await readExtent(db, wish.selection.recordedAsOf)
    return { ...extent, after: 0n, tally: new Tally(), assetOf }
  }
  if (JSON.stringify([begun.format, begun.wished]) !== JSON.stringify([wish.format, wish.selection]))
    throw new Fault('usage_bad', {
      problem: `--resume: another export was begun in ${wish.folder}`,
      fix: 'use the same options as that export, or another folder',
    })
  return {
    recordedAsOf: begun.recordedAsOf,
    lastJournal: BigInt(begun.lastJournal),
    after: BigInt(begun.after),
    tally: Tally.from(begun.tally, assetOf),
    assetOf,
  }
}

function stateOf({ format, selection }: ExportWish, course: Course): ExportCheckpoint {
  return {
    format,
    wished: selection,
    recordedAsOf: course.recordedAsOf,
    lastJournal: course.lastJournal.toString(),
    after: course.after.toString(),
    tally: course.tally.state(),
  }
}

function moveOn(course: Course, journals: readonly ExportedJournal[], isLast: boolean): void {
  for (const journal of journals) course.tally.add(journal)
  course.after = isLast ? course.lastJournal : (journals.at(-1)?.id ?? course.after)
}

/** @throws Fault `usage_bad` if two assets would share a name, which would merge their totals */
function assetReader(names: AssetNames): (key: string) => ExportedAsset {
  const assets = new Map(
    [...names].map(([key, { symbol, decimals }]) => [
      key,
      { key, symbol, decimals, commodity: commodityOf({ key, symbol }) },
    ]),
  )
  const keyOf = new Map<string, string>()
  for (const { key, commodity } of assets.values()) {
    const other = keyOf.get(commodity)
    if (other !== undefined)
      throw new Fault('usage_bad', {
        problem: `${other} and ${key} would both have the name ${commodity}`,
        fix: 'set another symbol for one of them in the settings',
      })
    keyOf.set(commodity, key)
  }
  return (key) => {
    const asset = assets.get(key)
    assert(asset !== undefined, 'every asset of the books is pinned')
    return asset
  }
}

type ExportRowPage = { journals: readonly LedgerJournalRow[]; transfers: readonly LedgerTransferRow[] }

function joined(
  { journals, transfers }: ExportRowPage,
  assetOf: (key: string) => ExportedAsset,
): ExportedJournal[] {
  const byJournal = Map.groupBy(transfers, ({ journal_id: id }) => id)
  return journals.map((row) => ({
    id: row.id,
    postingKey: row.posting_key,
    kind: row.kind,
    depositId: row.deposit_id,
    reverses: row.reverses,
    reason: row.reason,
    period: row.period,
    eventAt: row.event_at,
    recordedAt: row.recorded_at,
    transfers: (byJournal.get(row.id) ?? []).map(
      ({ leg, debit, credit, asset, amount }): ExportedTransfer => ({
        leg,
        debit,
        credit,
        asset: assetOf(asset),
        amount: BigInt(amount),
      }),
    ),
  }))
}
