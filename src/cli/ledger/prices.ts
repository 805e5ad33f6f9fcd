import { type FileHandle, open } from 'node:fs/promises'
import { basename } from 'node:path'
import { messageOf } from '../../core/errors.ts'
import { importPrices, type PriceImportCounts } from '../../jobs/books/import-prices.ts'
import { listPrices, type PriceKey, type PriceRow } from '../../store/ledger/prices.ts'
import { type Context, withDatabase } from '../context.ts'
import { type ListKeyset, type ListOptions, printList, readPage } from '../lists.ts'
import { wrongUse } from '../options.ts'
import { print, reportProgress, type TableColumn } from '../print.ts'

const progressEvery = 100_000

export async function importPricesCommand(
  context: Context,
  path: string,
  { dryRun: isDryRun = false }: { dryRun?: boolean },
): Promise<void> {
  const report = reportProgress(context)
  await using file = await openFile(path)
  const imported = await withDatabase(context, (db) =>
    importPrices(db, {
      name: basename(path),
      lines: linesOf(file),
      isDryRun,
      now: new Date(),
      onProgress: (soFar) => {
        if (soFar.prices % progressEvery === 0) report(lineOf(soFar, isDryRun))
      },
    }),
  )
  print(context, { ...imported, dryRun: isDryRun }, `${lineOf(imported, isDryRun)}\n`)
}

function lineOf({ prices, added }: PriceImportCounts, isDryRun: boolean): string {
  return `${prices} prices; ${added} ${isDryRun ? 'would be ' : ''}added, ${prices - added} already stored`
}

/** Starts to read on the first request; earlier lines would be lost. */
async function* linesOf(file: FileHandle): AsyncGenerator<string> {
  yield* file.readLines()
}

async function openFile(path: string): Promise<FileHandle> {
  const fix = 'give the path of a .csv file'
  const file = await open(path).catch((error: unknown) => {
    throw wrongUse(messageOf(error), fix, { cause: error })
  })
  if ((await file.stat()).isFile()) return file
  await file.close()
  throw wrongUse(`${path} is not a file`, fix)
}

const paging: ListKeyset<PriceRow> = {
  list: 'prices',
  keyOf: ({ at, asset, currency, source }) => [at.toISOString(), asset, currency, source],
}

export async function listPricesCommand(context: Context, options: ListOptions): Promise<void> {
  const page = await withDatabase(context, (db) =>
    readPage(options, paging, ({ limit, after }) => listPrices(db, { limit, after: priceKey(after) })),
  )
  printList(context, page, { columns, empty: 'no prices yet' })
}

function priceKey(key: readonly string[] | null): PriceKey | null {
  if (key === null) return null
  const [at = '', asset = '', currency = '', source = ''] = key
  return { at: new Date(at), asset, currency, source }
}

const columns: TableColumn<PriceRow>[] = [
  { title: 'AT', value: ({ at }) => at.toISOString() },
  { title: 'PRICE', value: ({ price }) => price, align: 'right' },
  { title: 'CURRENCY', value: ({ currency }) => currency },
  { title: 'SYMBOL', value: ({ asset_symbol }) => asset_symbol },
  { title: 'ASSET', value: ({ asset }) => asset },
  { title: 'SOURCE', value: ({ source }) => source },
]
