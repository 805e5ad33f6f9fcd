import { Fault } from '../../core/errors.ts'
import {
  type ExportedFiles,
  ExportFolder,
  type ExportTarget,
  type WrittenFile,
} from '../../ledger/export/export-folder.ts'
import {
  type AssetTotal,
  type ExportContents,
  type ExportedAsset,
  type ExportedJournal,
  type ExportedPrices,
  type ExportFormat,
  type ExportGaps,
  Tally,
} from '../../ledger/export/exported-journal.ts'
import { type ExportFormatName, formatOf } from '../../ledger/export/formats.ts'
import type { Chart } from '../../ledger/export/journal-import.ts'
import type { CostBasis } from '../../ledger/lots.ts'
import { readAssetNames } from '../../store/assets.ts'
import type { Database } from '../../store/database.ts'
import { type AccountLabels, accountsUnder, isOwner, readAccountLabels } from '../../store/ledger/accounts.ts'
import {
  type JournalSelection,
  mayValue,
  readExtent,
  readJournals,
  readRevaluations,
  readValueLines,
} from '../../store/ledger/export-journals.ts'
import { dailyPrices, readValuation, soleBasis } from '../../store/ledger/prices.ts'
import { priceGaps, readValued } from '../../store/ledger/values.ts'
import type { Tables } from '../../store/tables.ts'
import { assetReader, joined } from './exported-rows.ts'
import { LotReplay } from './replay-values.ts'
import { gapsMax, refusalOf, valueBooks } from './value-books.ts'

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
  /** A folder, or anything else that takes the files once the books were found fit. */
  folder: string | ((files: ExportedFiles) => Promise<ExportTarget>)
  pageSize?: number
  /** With the values and gains of the books. */
  isValued?: boolean
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
  const currency = valuation?.currency ?? null
  const basis = await basisOf(db, wish.selection)
  const format = formatOf(wish.format, { ...wish, currency, chart: chartOf(labels), basis })
  const accounts = await requiredAccounts(db, wish.selection)
  const assetOf = assetReader(await readAssetNames(db))
  const { recordedAsOf, lastJournal } = await readExtent(db, wish.selection.recordedAsOf)
  const selection = { ...wish.selection, recordedAsOf }
  const source: ExportSource = {
    db,
    selection: { ...selection, accounts },
    limit: wish.pageSize ?? usualPageSize,
    isValued: format.gaps !== undefined,
    assetOf,
    replay: null,
  }
  if (format.gaps !== undefined) await refuseGaps(source, format.gaps)
  await using target = await targetOf(wish, format)
  const tally = new Tally()
  for await (const { journals, after } of pagesOf({ ...source, replay: replayOf(format) })) {
    await target.write(journals.flatMap(format.journal))
    for (const journal of journals) tally.add(journal)
    wish.onProgress({ journals: tally.counts().journals, at: after ?? lastJournal, of: lastJournal })
  }
  for (const revaluation of await revaluationsOf(source)) {
    await target.write(format.journal(revaluation))
    tally.addAccounts(revaluation)
  }
  const used = tally.used()
  const priced = format.hasPrices ? await pricesOf(source, used, currency) : null
  await target.write([format.tail(used, priced)])
  return target.finish((files) => ({
    version: 1 as const,
    format: wish.format,
    selection,
    ...(selection.owner === null ? {} : { note: ownedNow }),
    ...(currency !== null && (source.isValued || priced !== null) ? { currency } : {}),
    files,
    ...tally.counts(),
    totals: tally.totals(),
  }))
}

function targetOf({ folder }: ExportWish, format: ExportFormat): Promise<ExportTarget> {
  return typeof folder === 'string' ? ExportFolder.open(folder, format) : folder(format)
}

/** Of lots, which follow from all journals up to then; null if some are not exported. */
async function basisOf(
  db: Database<Tables>,
  { recordedAsOf: _asOf, ...filters }: ExportSelection,
): Promise<CostBasis | null> {
  return Object.values(filters).every((filter) => filter === null) ? soleBasis(db) : null
}

function replayOf({ lots }: ExportFormat): LotReplay | null {
  return lots === undefined ? null : new LotReplay(lots)
}

function chartOf(labels: AccountLabels): Chart {
  return (account) => labels.get(account) ?? { code: null, name: null }
}

type ExportSource = {
  db: Database<Tables>
  selection: JournalSelection
  limit: number
  isValued: boolean
  assetOf: (key: string) => ExportedAsset
  /** Null for journals without lots. */
  replay: LotReplay | null
}

/** `after` is the last number of the page; null of the last page. */
async function* pagesOf({ db, selection, limit, isValued, assetOf, replay }: ExportSource) {
  let after: bigint | null = 0n
  while (after !== null) {
    const rows = await readJournals(db, selection, { after, limit })
    const ids = isValued ? rows.journals.map(({ id }) => id) : []
    const values = await readValueLines(db, { journals: ids, revaluations: [] })
    const lots = (await replay?.changesUpTo(db, rows.journals.at(-1)?.id ?? 0n)) ?? null
    const journals = joined({ ...rows, values, lots }, assetOf)
    after = journals.length < limit ? null : (journals.at(-1)?.id ?? null)
    yield { journals, after }
  }
}

async function revaluationsOf({
  db,
  selection,
  isValued,
  assetOf,
}: ExportSource): Promise<ExportedJournal[]> {
  if (!isValued) return []
  const rows = await readRevaluations(db, selection)
  const values = await readValueLines(db, { journals: [], revaluations: rows.map(({ id }) => id) })
  const journals = rows.map(({ kind, period, ...row }) => ({
    ...row,
    kind,
    period,
    posting_key: kind === 'revaluation' ? `revaluation of ${period}` : `revaluation taken back in ${period}`,
    deposit_id: null,
    reverses: null,
    reason: null,
  }))
  return joined({ journals, transfers: [], values, lots: null }, assetOf)
}

/** Values what is new, if the login may. */
async function refuseGaps(source: ExportSource, gaps: ExportGaps): Promise<void> {
  const { db } = source
  if (await mayValue(db)) await valueBooks(db)
  let last = 0n
  for await (const { journals } of pagesOf(source))
    for (const journal of journals) {
      last = journal.id
      gaps.add(journal)
    }
  const { lastJournal: after, currency } = await readValued(db)
  if (last > after) throw await unvalued(db, { after, upTo: last, currency })
  for (const journal of await revaluationsOf(source)) gaps.add(journal)
  gaps.refuse()
}

async function unvalued(
  db: Database<Tables>,
  { currency, ...span }: { after: bigint; upTo: bigint; currency: string | null },
): Promise<Fault> {
  const gaps = await priceGaps(db, { ...span, limit: gapsMax })
  const unit = currency ?? (await readValuation(db))?.currency ?? ''
  if (gaps.length > 0) return refusalOf(gaps, unit)
  const problem = `journals after ${span.after} are not valued yet`
  return new Fault('usage_bad', {
    problem,
    fix: 'run "bin/depositd ledger value" with the DATABASE_URL of the daemon',
  })
}

/** Up to the end of the selection. */
async function pricesOf(
  { db, selection: { before }, assetOf }: ExportSource,
  { assets }: ExportContents,
  currency: string | null,
): Promise<ExportedPrices> {
  if (currency === null) return null
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
