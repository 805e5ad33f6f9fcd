import { createReader } from '../../chain/reader.ts'
import type { Settings } from '../../config/settings.ts'
import type { NetworkSettings } from '../../core/asset.ts'
import { formatAmount } from '../../core/money.ts'
import { formatMinor } from '../../core/value.ts'
import {
  type BookedOpening,
  bookOpening,
  checkOpening,
  type Opening,
  type OpeningPreview,
  readOpeningFile,
  untilDecided,
} from '../../jobs/books/open-books.ts'
import { type OpeningProofDeps, proveOpening, readChains } from '../../jobs/books/prove-opening.ts'
import { isOwn, sumOf } from '../../ledger/lots.ts'
import { isDifferent, type OpeningRow } from '../../ledger/opening.ts'
import type { OwnFunds, StatedOpening } from '../../ledger/opening-lots.ts'
import { placeOf } from '../../presentation/journal.ts'
import { type AssetNames, pinnedNetworks, readAssetNames } from '../../store/assets.ts'
import type { Database } from '../../store/database.ts'
import type { Tables } from '../../store/tables.ts'
import { actorOf, actorText, nameOf } from '../actor.ts'
import { attachedSettings, type Context, longQueryMs, withDatabase } from '../context.ts'
import { journalDocument } from '../documents.ts'
import { readTextFile } from '../files.ts'
import { textOf, wrongUse } from '../options.ts'
import { type News, print, printable, reportProgress, type TableColumn, table } from '../print.ts'

type OpenOptions = {
  by?: string
  approvedBy: string
  dryRun?: boolean
  at: Date
  reason: string
  limit: number
  wait: number
  file?: string
  fromService?: boolean
  differencesToSuspense?: boolean
}

/** Bad news if a dry run finds differences, and no decision about them is given. */
export async function openBooksCommand(context: Context, options: OpenOptions): Promise<News> {
  const actor = actorOf(options.by)
  const people = { by: actor.name, approvedBy: nameOf('--approved-by', options.approvedBy) }
  const byHand = { ...people, reason: textOf('--reason', options.reason) }
  const text = statedIn(options)
  const settings = attachedSettings(context)
  return withDatabase(
    context,
    async (db) => {
      const deps = await openingDeps(db, settings)
      const opening = await openingOf(deps, options, text)
      const shown = { assets: deps.assets, ownFunds: deps.ownFunds, limit: options.limit }
      const patience = { waitMs: options.wait * 1000, report: reportProgress(context) }
      const preview = await untilDecided(() => checkOpening(deps, opening), patience)
      const isRefused = preview.rows.some(isDifferent) && !opening.toSuspense
      if (options.dryRun === true) {
        const line = `valid, not booked: ${preview.key}, ${placeOf(preview)}`
        printOpening(context, { ...shown, line, opening: preview })
        return isRefused ? 'bad' : 'good'
      }
      if (isRefused) context.stderr.write(printable(rowTable({ ...shown, opening: preview })))
      const journal = await untilDecided(() => bookOpening(deps, opening, byHand), patience)
      const did = `booked as journal ${journal.id}, ${actorText(actor)}, approved by ${people.approvedBy}`
      printOpening(context, { ...shown, line: `${did}\n${placeOf(journal)}`, opening: journal })
      return 'good'
    },
    longQueryMs,
  )
}

/** Null to state what is proved. */
function statedIn({ file, fromService }: OpenOptions): string | null {
  if (file !== undefined) return readTextFile('the file of balances', file)
  if (fromService === true) return null
  throw wrongUse('no balances are given', 'give --file, or --from-service')
}

async function openingDeps(db: Database<Tables>, settings: Settings) {
  const networks = await pinnedNetworks(db, settings.networks)
  return {
    db,
    accountPatterns: settings.accounts.known,
    contras: settings.contras,
    ownFunds: settings.valuation,
    creditAsset: settings.creditAsset.key,
    networks: await Promise.all(networks.map(readerOf)),
    assets: await readAssetNames(db),
    now: () => new Date(),
  }
}

async function readerOf(settings: NetworkSettings): Promise<OpeningProofDeps['networks'][number]> {
  if (settings.rpcUrls.length === 0) return { settings, reader: null }
  const reader = createReader(settings)
  await reader.checkIdentity()
  return { settings, reader }
}

async function openingOf(
  deps: Awaited<ReturnType<typeof openingDeps>>,
  { at, differencesToSuspense: toSuspense = false }: OpenOptions,
  text: string | null,
): Promise<Opening> {
  const stated = text === null ? null : await readOpeningFile(deps, text)
  const { chains, received } = await readChains(deps, at)
  return { at, received, stated, toSuspense, prove: (db) => proveOpening({ ...deps, db }, at, chains) }
}

function replacedLine({ replaced }: Pick<OpeningPreview, 'replaced'>): string {
  return replaced === 0
    ? 'no journal of an earlier event is booked'
    : `journals of earlier events, which the daemon reverses: ${replaced}`
}

type ShownOpening = {
  assets: AssetNames
  ownFunds: OwnFunds
  opening: OpeningPreview | BookedOpening
  limit: number
}

function printOpening(context: Context, { line, ...shown }: ShownOpening & { line: string }): void {
  const { assets, opening } = shown
  const document = {
    ...journalDocument(opening, assets),
    balances: opening.rows.map((row) => rowDocument(row, assets)),
    differing: opening.rows.filter(isDifferent).length,
    lots: opening.lots.map((lot) => lotDocument(lot, assets)),
  }
  const costs = costLines(shown).map((text) => `${text}\n`)
  print(
    context,
    document,
    printable(`${rowTable(shown)}${costs.join('')}${line}\n${replacedLine(opening)}\n`),
  )
}

function lotDocument({ account, asset, acquiredAt, units, cost, currency }: StatedLot, assets: AssetNames) {
  const { symbol, decimals } = assets.get(asset) ?? { symbol: asset, decimals: 0 }
  return {
    account,
    assetSymbol: symbol,
    asset,
    acquiredAt,
    amount: formatAmount(units, decimals),
    amountBase: units,
    cost: formatMinor(cost, currency),
    currency,
  }
}

/** How own funds enter the books. */
function costLines({ assets, ownFunds, opening: { rows, lots } }: ShownOpening): string[] {
  if (ownFunds === null) return []
  const { currency } = ownFunds
  const units = (of: OpeningRow) =>
    sumOf(lots.filter(({ account, asset }) => account === of.account && asset === of.asset)).units
  const atMarket = rows.filter((row) => isOwn(row.account, ownFunds) && row.stated > units(row))
  const named = atMarket.map(({ account, asset }) => `${account} in ${assets.get(asset)?.symbol ?? asset}`)
  return [
    ...(lots.length === 0
      ? []
      : [
          `own funds with a cost: ${lots.length} lots, ${formatMinor(sumOf(lots).cost, currency)} ${currency}`,
        ]),
    ...(named.length === 0 ? [] : [`own funds at their market price, without a cost: ${named.join(', ')}`]),
  ]
}

type StatedLot = StatedOpening['lots'][number]

function rowDocument({ account, asset, basis, ...row }: OpeningRow, assets: AssetNames) {
  const { symbol, decimals } = assets.get(asset) ?? { symbol: asset, decimals: 0 }
  const inUnits = (amount: bigint) => formatAmount(amount, decimals)
  return {
    account,
    assetSymbol: symbol,
    asset,
    stated: inUnits(row.stated),
    statedBase: row.stated,
    proved: row.proved === null ? null : inUnits(row.proved),
    provedBase: row.proved,
    difference: row.difference === null ? null : inUnits(row.difference),
    differenceBase: row.difference,
    basis,
  }
}

function rowTable({ assets, opening: { rows }, limit }: ShownOpening): string {
  const shown = table(
    rows.slice(0, limit).map((row) => rowDocument(row, assets)),
    columns,
  )
  return rows.length > limit
    ? `${shown}and ${rows.length - limit} more; a higher --limit shows them\n`
    : shown
}

const columns: TableColumn<ReturnType<typeof rowDocument>>[] = [
  { title: 'ACCOUNT', value: ({ account }) => account },
  { title: 'STATED', value: ({ stated }) => stated, align: 'right' },
  { title: 'PROVED', value: ({ proved }) => proved ?? '', align: 'right' },
  { title: 'DIFFERENCE', value: ({ difference }) => difference ?? '', align: 'right' },
  { title: 'SYMBOL', value: ({ assetSymbol: symbol }) => symbol },
  { title: 'BY', value: ({ basis }) => basis },
  { title: 'ASSET', value: ({ asset }) => asset },
]
