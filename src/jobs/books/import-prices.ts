import { Fault } from '../../core/errors.ts'
import { parseTime } from '../../core/time.ts'
import { readCsv } from '../../provider/owners-file.ts'
import { type Database, unlessDryRun } from '../../store/database.ts'
import { addPrices, assetNames, importAlone } from '../../store/ledger/prices.ts'
import type { Tables } from '../../store/tables.ts'
import { inBatches } from './seal-books.ts'

export type PriceFile = {
  name: string
  lines: AsyncIterable<string>
  isDryRun: boolean
  /** With it, lines without a problem are imported all the same. At most 20 problems are named. */
  onFaults?: (faults: readonly string[]) => void
  now: Date
  onProgress: (imported: PriceImportCounts) => void
}

export type PriceImportCounts = { prices: number; added: number }

const batchMax = 1000
/** A file of the wrong kind has a problem on each line. */
const faultsMax = 20

/**
 * Imports all prices, or none if a line has a problem, unless problems are only reported. Streams the file. Importing it
 * again changes nothing.
 * @throws Fault `settings_bad` that names the lines
 */
export async function importPrices(db: Database<Tables>, file: PriceFile): Promise<PriceImportCounts> {
  return unlessDryRun(db, async (tx) => {
    const imported: PriceImportCounts = { prices: 0, added: 0 }
    await importAlone(tx)
    const faults = new Faults(file)
    const names = await assetNames(tx)
    for await (const batch of inBatches(readPrices(file, names, faults), batchMax)) {
      const { added, conflicts } = await addPrices(tx, batch)
      for (const { place, known } of conflicts)
        faults.add(batch[place]?.line, `${known} was already stored from the same source`)
      imported.prices += batch.length
      imported.added += added
      file.onProgress(imported)
      if (faults.isFull) break
    }
    faults.report()
    return { result: imported, isKept: !file.isDryRun }
  })
}

class Faults {
  readonly #name: string
  readonly #onFaults: PriceFile['onFaults']
  readonly #faults: string[] = []

  constructor({ name, onFaults }: PriceFile) {
    this.#name = name
    this.#onFaults = onFaults
  }

  /** The rest need not be read. */
  get isFull(): boolean {
    return this.#onFaults === undefined && this.#faults.length >= faultsMax
  }

  add(line: number | undefined, problem: string): void {
    if (this.#faults.length < faultsMax) this.#faults.push(`${this.#name} line ${line ?? 0}: ${problem}`)
  }

  report(): void {
    if (this.#faults.length === 0) return
    if (this.#onFaults === undefined) throw new Fault('settings_bad', { faults: this.#faults })
    this.#onFaults(this.#faults)
  }
}

/** The first non-empty line names the columns. Reading stops if they are wrong. */
async function* readPrices(
  { lines, now }: PriceFile,
  assets: ReadonlyMap<string, string>,
  faults: Faults,
): AsyncGenerator<PriceLine> {
  let columns: PriceColumns | null = null
  let line = 0
  for await (const text of lines) {
    line++
    const cells = cellsOf(text)
    if (typeof cells === 'string') faults.add(line, cells)
    else if (columns !== null && cells.length > 0) {
      const price = priceOf(readPriceLine({ line, cells }, columns), assets, now)
      if (typeof price === 'string') faults.add(line, price)
      else yield price
    } else if (cells.length > 0) {
      const head = readColumns(cells)
      if (typeof head === 'string') {
        faults.add(1, head)
        return
      }
      columns = head
    }
    if (faults.isFull) return
  }
  if (columns === null) faults.add(1, 'the file is empty')
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

type PriceLine = {
  line: number
  asset: string
  currency: string
  at: Date
  price: string
  source: string
}

export type PriceColumns = readonly (keyof Omit<PriceLine, 'line'>)[]

const columns: PriceColumns = ['asset', 'currency', 'at', 'price', 'source']

/** @returns the columns, or a text that says what is wrong */
export function readColumns(cells: readonly string[]): PriceColumns | string {
  const isWhole = columns.every((name) => cells.includes(name))
  if (isWhole && cells.length === columns.length) return cells as PriceColumns
  return `has the columns ${cells.join(', ') || 'none'}; it must have ${columns.join(', ')}, in any order`
}

/** @returns the price, or a text that says what is wrong */
export function readPriceLine(
  { line, cells }: { line: number; cells: readonly string[] },
  names: PriceColumns,
): PriceLine | string {
  if (cells.length !== names.length)
    return `has ${cells.length} cells, but the first line has ${names.length} columns`
  const cell = (name: PriceColumns[number]) => cells[names.indexOf(name)] ?? ''
  const [asset, currency, price, source] = [cell('asset'), cell('currency'), cell('price'), cell('source')]
  const at = parseTime(cell('at'))
  if (at === null) return 'at is neither a day nor a time, like 2026-11-20 or 2026-11-20T08:00:00Z'
  const problem = problemOf({ currency, price, source })
  return problem ?? { line, asset, currency, at, price, source }
}

function problemOf({ currency, price, source }: Record<'currency' | 'price' | 'source', string>) {
  if (!/^[A-Z]{3}$/.test(currency)) return 'currency is not three capital letters, like EUR'
  if (!/^\d{1,30}(\.\d{1,38})?$/.test(price) || /^[0.]+$/.test(price))
    return 'price is not an amount above zero, like 0.9231'
  return /^[^\p{C}]{1,100}$/u.test(source) ? null : 'source is not a text of 1 to 100 characters'
}
