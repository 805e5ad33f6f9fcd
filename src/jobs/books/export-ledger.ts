import { assert, Fault } from '../../core/errors.ts'
import { ExportFolder, type WrittenFile } from '../../ledger/export/export-folder.ts'
import {
  type AssetTotal,
  type ExportContents,
  type ExportedAsset,
  type ExportedJournal,
  type ExportedPrices,
  type ExportedTransfer,
  type ExportGaps,
  Tally,
} from '../../ledger/export/exported-journal.ts'
import { type ExportFormatName, formatOf } from '../../ledger/export/formats.ts'
import { commodityOf } from '../../ledger/export/plain-text.ts'
import { type AssetNames, readAssetNames } from '../../store/assets.ts'
import type { Database } from '../../store/database.ts'
import { accountsUnder, isOwner, readAccountLabels } from '../../store/ledger/accounts.ts'
import {
  type JournalSelection,
  type LedgerJournalRow,
  type LedgerTransferRow,
  readExtent,
  readJournals,
} from '../../store/ledger/export-journals.ts'
import { dailyPrices, readValuation } from '../../store/ledger/prices.ts'
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
  /** Of prices and values; absent if the settings name none, or the format has no values. */
  currency?: string
  files: readonly WrittenFile[]
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
  const [labels, valuation] = [await readAccountLabels(db), await readValuation(db)]
  const format = formatOf(wish.format, {
    chart: (account) => labels.get(account) ?? { code: null, name: null },
    currency: valuation?.currency ?? null,
  })
  const accounts = await requiredAccounts(db, wish.selection)
  const assetOf = assetReader(await readAssetNames(db))
  const { recordedAsOf, lastJournal } = await readExtent(db, wish.selection.recordedAsOf)
  const selection = { ...wish.selection, recordedAsOf }
  const source: ExportSource = {
    db,
    selection: { ...selection, accounts },
    limit: wish.pageSize ?? usualPageSize,
    isPriced: format.gaps !== undefined,
    assetOf,
  }
  if (format.gaps !== undefined) await refuseGaps(source, format.gaps)
  await using folder = await ExportFolder.open(wish.folder, format)
  const tally = new Tally()
  for await (const { journals, after } of pagesOf(source)) {
    await folder.write(journals.flatMap(format.journal))
    for (const journal of journals) tally.add(journal)
    wish.onProgress({ journals: tally.counts().journals, at: after ?? lastJournal, of: lastJournal })
  }
  const used = tally.used()
  const priced =
    format.hasPrices && valuation !== null ? await pricesOf(source, used, valuation.currency) : null
  await folder.write([format.tail(used, priced)])
  return folder.finish((files) => ({
    version: 1 as const,
    format: wish.format,
    selection,
    ...(selection.owner === null ? {} : { note: ownedNow }),
    ...(valuation !== null && (source.isPriced || priced !== null) ? { currency: valuation.currency } : {}),
    files,
    ...tally.counts(),
    totals: tally.totals(),
  }))
}

type ExportSource = {
  db: Database<Tables>
  selection: JournalSelection
  limit: number
  isPriced: boolean
  assetOf: (key: string) => ExportedAsset
}

/** `after` is the last number of the page; null of the last page. */
async function* pagesOf({ db, selection, limit, isPriced, assetOf }: ExportSource) {
  let after: bigint | null = 0n
  while (after !== null) {
    const rows = await readJournals(db, selection, { after, limit, isPriced })
    const journals = joined(rows, assetOf)
    after = journals.length < limit ? null : (journals.at(-1)?.id ?? null)
    yield { journals, after }
  }
}

async function refuseGaps(source: ExportSource, gaps: ExportGaps): Promise<void> {
  for await (const { journals } of pagesOf(source)) for (const journal of journals) gaps.add(journal)
  gaps.refuse()
}

/** Up to the end of the selection. */
async function pricesOf(
  { db, selection: { before }, assetOf }: ExportSource,
  { assets }: ExportContents,
  currency: string,
): Promise<ExportedPrices> {
  const prices = await dailyPrices(db, { assets: assets.map(({ asset }) => asset.key), before })
  return { currency, prices: prices.map(({ asset, ...price }) => ({ ...price, asset: assetOf(asset) })) }
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
      ({ leg, debit, credit, asset, amount, price }): ExportedTransfer => ({
        leg,
        debit,
        credit,
        asset: assetOf(asset),
        amount: BigInt(amount),
        price,
      }),
    ),
  }))
}
