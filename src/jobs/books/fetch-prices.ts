import { Fault, isFault, messageOf } from '../../core/errors.ts'
import { readResponse } from '../../http/read-response.ts'
import type { Database } from '../../store/database.ts'
import type { Tables } from '../../store/tables.ts'
import { importPrices, type PriceImportCounts } from './import-prices.ts'

const timeoutMs = 30_000
/** About a hundred thousand prices. */
const bytesMax = 8 * 1024 * 1024

/**
 * Imports the prices that an address of the settings serves, in the form of a price file. A line with a problem keeps
 * no other from being imported.
 * @throws Fault `remote_failed` if it does not answer with such a file, or lines have problems
 */
export async function fetchPrices(db: Database<Tables>, url: string): Promise<PriceImportCounts> {
  const what = `the prices of ${new URL(url).host}`
  try {
    const text = await read(url)
    const faults: string[] = []
    const imported = await importPrices(db, {
      name: 'prices',
      lines: linesOf(text),
      isDryRun: false,
      onFaults: (found) => void faults.push(...found),
      now: new Date(),
      onProgress: () => undefined,
    })
    if (faults.length > 0) throw new Fault('settings_bad', { faults })
    return imported
  } catch (error) {
    throw new Fault('remote_failed', { what, problem: problemIn(error) }, { cause: error })
  }
}

function problemIn(error: unknown): string {
  if (isFault(error, 'settings_bad')) return error.details.faults.join('; ')
  // The error of fetch only says that it failed.
  return messageOf(error instanceof TypeError ? (error.cause ?? error) : error)
}

async function read(url: string): Promise<string> {
  const response = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(timeoutMs) })
  if (!response.ok) throw new Error(`HTTP ${response.status}`)
  const problem = `the file is larger than ${bytesMax} bytes`
  return (await readResponse(response, { bytesMax, problem })).toString()
}

async function* linesOf(text: string): AsyncGenerator<string> {
  yield* text.split(/\r?\n/)
}
