import { Fault, messageOf } from '../../core/errors.ts'
import { readResponse } from '../../http/read-response.ts'
import { findPriceFaults, type PriceTable, type Terms } from './quote.ts'

/** The URL returns `{ "ETH/USDC": "3000.5", … }`. Prices older than `staleAfterMs` are not used. */
export type PriceSource = { url: string; everyMs: number; staleAfterMs: number }

/** A fixed price takes precedence. */
export type QuoteSettings = Terms & { prices: PriceTable; source: PriceSource | null }

export type Prices = {
  /** Null until the source was first queried, so that no price is reported missing too early. */
  current(): PriceTable | null
  /** @throws Fault `remote_failed`; earlier prices stay in use until they are stale */
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
      // The age of a price counts from the request.
      const at = now()
      try {
        read = { prices: await readPrices(source.url, stopping), at }
      } finally {
        isAsked = true
      }
    },
  }
}

/** Does not check the URL of the source, which the settings check. */
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
    const problem = `the response is longer than ${answerMax} bytes`
    const answer = await readResponse(response, { bytesMax: answerMax, problem })
    return parsePrices(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(answer)))
  } catch (error) {
    throw new Fault('remote_failed', { what: 'reading prices', problem: messageOf(error) }, { cause: error })
  }
}

/** One invalid entry rejects the whole response. */
function parsePrices(answer: unknown): PriceTable {
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer))
    throw new Error('the response is not an object of pairs and prices')
  const prices = answer as Record<string, unknown>
  const [fault] = findPriceFaults(prices)
  if (fault !== undefined) throw new Error(fault)
  return prices as PriceTable
}
