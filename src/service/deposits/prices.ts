import { Fault, messageOf } from '../../core/errors.ts'
import { findPriceFaults, type PriceTable, type Terms } from './quote.ts'

/**
 * Where prices are read from: a URL that answers `{ "ETH/USDC": "3000.5", … }`. Prices that are older than
 * `staleAfterMs` are not used.
 */
export type PriceSource = { url: string; everyMs: number; staleAfterMs: number }

/** The pairs of the table are fixed; those of the source, if there is one, stand beside them. */
export type QuoteSettings = Terms & { prices: PriceTable; source: PriceSource | null }

export type Prices = {
  /** What is known now; null until the source was asked once, so that no price is missed before. */
  current(): PriceTable | null
  /**
   * Reads the source, if there is one.
   * @throws Fault `remote_failed`; the prices read before stay, until they are stale
   */
  refresh(stopping: AbortSignal): Promise<void>
}

const timeoutMs = 5000
const answerMax = 262_144

export function openPrices({ prices, source }: QuoteSettings, now: () => number): Prices {
  let read: { prices: PriceTable; at: number } | null = null
  let isAsked = source === null
  return {
    current: () => {
      if (!isAsked) return null
      const isFresh = source !== null && read !== null && now() - read.at <= source.staleAfterMs
      return isFresh ? { ...read?.prices, ...prices } : prices
    },
    refresh: async (stopping) => {
      if (source === null) return
      // The price is as old as the question, however long the answer took.
      const at = now()
      try {
        read = { prices: await readPrices(source.url, stopping), at }
      } finally {
        isAsked = true
      }
    },
  }
}

/** Names every setting that cannot be. The address of the source is left to others to check. */
export function findQuoteFaults({ prices, source, ...terms }: QuoteSettings): string[] {
  const points = Object.entries(terms).filter(
    ([, value]) => !(Number.isInteger(value) && value >= 0 && value < 10_000),
  )
  const times = Object.entries({ everyMs: source?.everyMs ?? 1, staleAfterMs: source?.staleAfterMs ?? 1 })
  return [
    ...findPriceFaults(prices),
    ...points.map(([name]) => `${name} is not a whole number from 0 to 9999`),
    ...times
      .filter(([, value]) => !(Number.isInteger(value) && value > 0))
      .map(([name]) => `${name} of the price source is not positive`),
  ]
}

async function readPrices(url: string, stopping: AbortSignal): Promise<PriceTable> {
  try {
    const response = await fetch(url, {
      headers: { accept: 'application/json' },
      redirect: 'error',
      signal: AbortSignal.any([stopping, AbortSignal.timeout(timeoutMs)]),
    })
    if (response.status !== 200) throw new Error(`status ${response.status}`)
    return parsePrices(JSON.parse(await readText(response)))
  } catch (error) {
    throw new Fault('remote_failed', { what: 'reading prices', problem: messageOf(error) }, { cause: error })
  }
}

async function readText({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body ?? []) {
    length += chunk.length
    if (length > answerMax) throw new Error(`the answer is longer than ${answerMax} bytes`)
    chunks.push(chunk)
  }
  return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))
}

/** Held to what the table of the settings is held to: one bad entry, and none is used. */
function parsePrices(answer: unknown): PriceTable {
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer))
    throw new Error('the answer is not an object of pairs and prices')
  const prices = answer as Record<string, unknown>
  const [fault] = findPriceFaults(prices)
  if (fault !== undefined) throw new Error(fault)
  return prices as PriceTable
}
