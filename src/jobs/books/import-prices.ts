import { Fault } from '../../core/errors.ts'
import { type PriceColumns, type PriceLine, readColumns, readPriceLine } from '../../ledger/price-line.ts'
import { readCsv } from '../../provider/owners-file.ts'
import { type Database, inTransaction } from '../../store/database.ts'
import { addPrices, assetNames, importAlone } from '../../store/ledger/prices.ts'
import type { Tables } from '../../store/tables.ts'

export type PriceFile = {
  name: string
  lines: AsyncIterable<string>
  isDryRun: boolean
  now: Date
  onProgress: (imported: PriceImportCounts) => void
}

export type PriceImportCounts = { prices: number; added: number }

const batchMax = 1000
/** A file of the wrong kind has a problem on each line. */
const faultsMax = 20

/**
 * Imports all prices, or none if a line has a problem. Streams the file. Importing it again changes nothing.
 * @throws Fault `settings_bad` that names the lines
 */
export async function importPrices(db: Database<Tables>, file: PriceFile): Promise<PriceImportCounts> {
  const undone = new Undone()
  try {
    await inTransaction(db, async (tx) => {
      await importAlone(tx)
      const faults = new Faults(file.name)
      const names = await assetNames(tx)
      for await (const batch of batchesOf(file, names, faults)) {
        const { added, conflicts } = await addPrices(tx, batch)
        for (const { place, known } of conflicts)
          faults.add(batch[place]?.line, `${known} was already stored from the same source`)
        undone.imported.prices += batch.length
        undone.imported.added += added
        file.onProgress(undone.imported)
        if (faults.isFull) break
      }
      faults.refuse()
      if (file.isDryRun) throw undone
    })
  } catch (error) {
    if (error !== undone) throw error
  }
  return undone.imported
}

/** Rolls back the transaction. */
class Undone extends Error {
  imported: PriceImportCounts = { prices: 0, added: 0 }
}

class Faults {
  readonly #name: string
  readonly #faults: string[] = []

  constructor(name: string) {
    this.#name = name
  }

  get isFull(): boolean {
    return this.#faults.length >= faultsMax
  }

  add(line: number | undefined, problem: string): void {
    if (!this.isFull) this.#faults.push(`${this.#name} line ${line ?? 0}: ${problem}`)
  }

  refuse(): void {
    if (this.#faults.length > 0) throw new Fault('settings_bad', { faults: this.#faults })
  }
}

async function* batchesOf(
  file: PriceFile,
  assets: ReadonlyMap<string, string>,
  faults: Faults,
): AsyncGenerator<PriceLine[]> {
  const read = createReader(file, assets, faults)
  let batch: PriceLine[] = []
  for await (const text of file.lines) {
    const price = read(text)
    if (price === 'end' || faults.isFull) break
    if (typeof price === 'object' && price !== null) batch.push(price)
    if (batch.length < batchMax) continue
    yield batch
    batch = []
  }
  if (read('') === 'headless') faults.add(1, 'the file is empty')
  if (batch.length > 0) yield batch
}

type LineRead = PriceLine | null | 'headless' | 'end'

/** The first non-empty line names the columns. */
function createReader({ now }: PriceFile, assets: ReadonlyMap<string, string>, faults: Faults) {
  let columns: PriceColumns | null = null
  let line = 0
  return (text: string): LineRead => {
    line++
    const cells = cellsOf(text)
    if (typeof cells === 'string') faults.add(line, cells)
    else if (cells.length > 0 && columns === null) columns = headOf(cells, faults)
    else if (cells.length > 0 && columns !== null) {
      const price = priceOf(readPriceLine({ line, cells }, columns), assets, now)
      if (typeof price !== 'string') return price
      faults.add(line, price)
    }
    if (columns === null) return 'headless'
    return columns.length === 0 ? 'end' : null
  }
}

/** Reading stops if the file has other columns. */
function headOf(cells: readonly string[], faults: Faults): PriceColumns {
  const columns = readColumns(cells)
  if (typeof columns !== 'string') return columns
  faults.add(1, columns)
  return []
}

function cellsOf(text: string): readonly string[] | string {
  const reading = readCsv(text)
  return reading.kind === 'unclosed' ? 'a quote is not closed' : (reading.rows[0]?.cells ?? [])
}

function priceOf(
  read: PriceLine | string,
  assets: ReadonlyMap<string, string>,
  now: Date,
): PriceLine | string {
  if (typeof read === 'string') return read
  const asset = assets.get(read.asset)
  if (asset === undefined)
    return `there is no asset ${JSON.stringify(read.asset)}, or several have this name; use a name such as base/USDC, or the contract`
  return read.at > now ? 'at is in the future' : { ...read, asset }
}
