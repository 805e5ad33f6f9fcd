import { assert, Fault } from '../../core/errors.ts'
import { ExportFolder, type WrittenFile } from '../../ledger/export/export-folder.ts'
import {
  type AssetTotal,
  type ExportedAsset,
  type ExportedJournal,
  type ExportedTransfer,
  Tally,
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
  pageSize?: number
  onProgress: (progress: ExportProgress) => void
}

export type ExportProgress = { journals: string; at: bigint; of: bigint }

/** The content does not depend on the time of the export, unless its note says so. */
export type Manifest = {
  version: 1
  format: ExportFormatName
  selection: ExportSelection
  note?: string
  file: WrittenFile
  journals: string
  transfers: string
  totals: AssetTotal[]
}

const usualPageSize = 2000

/**
 * Ordered by number, page by page, so memory does not grow. Only journals recorded before it began are read, so a
 * repeated export has the same bytes.
 * @throws Fault `usage_bad` if the account or owner does not exist, or the folder cannot be used
 */
export async function exportLedger(db: Database<Tables>, wish: ExportWish): Promise<Manifest> {
  const labels = await readAccountLabels(db)
  const format = formatOf(wish.format, (account) => labels.get(account) ?? { code: null, name: null })
  const accounts = await requiredAccounts(db, wish.selection)
  await using folder = await ExportFolder.open(wish.folder, format.file)
  const assetOf = assetReader(await readAssetNames(db))
  const { recordedAsOf, lastJournal } = await readExtent(db, wish.selection.recordedAsOf)
  const selection = { ...wish.selection, recordedAsOf }
  const limit = wish.pageSize ?? usualPageSize
  const tally = new Tally()
  await folder.write(format.head)
  let after = 0n
  for (let isLast = false; !isLast; ) {
    const journals = joined(await readJournals(db, { ...selection, accounts }, { after, limit }), assetOf)
    await folder.write(journals.map(format.journal).join(''))
    for (const journal of journals) tally.add(journal)
    isLast = journals.length < limit
    after = isLast ? lastJournal : (journals.at(-1)?.id ?? after)
    wish.onProgress({ journals: tally.counts().journals, at: after, of: lastJournal })
  }
  await folder.write(format.tail(tally.used()))
  return folder.finish((file) => ({
    version: 1 as const,
    format: wish.format,
    selection,
    ...(selection.owner === null ? {} : { note: ownedNow }),
    file,
    ...tally.counts(),
    totals: tally.totals(),
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
