import { setTimeout as sleep } from 'node:timers/promises'
import { formatAmount } from '../core/money.ts'
import type { DepositRecord } from '../service/deposits/record.ts'

type Event = { id: string; type: string; created_at: string; data: DepositRecord }

export type EventWatch = { url: string; key: string; say: (line: string) => void }

const askEveryMs = 1000
const atOnceMax = 100

/** Says a line for each step of each deposit from now on, as an integrator would learn of it. */
export function watchEvents(watch: EventWatch): { stop: () => Promise<void> } {
  const stopping = new AbortController()
  const watching = follow(watch, stopping.signal)
  return {
    stop: () => {
      stopping.abort()
      return watching
    },
  }
}

async function follow(watch: EventWatch, stopping: AbortSignal): Promise<void> {
  let last: string | null = null
  for (let isFirst = true; !stopping.aborted; isFirst = false) {
    // What cannot be read now is read the next time; why stands in the log.
    const newest = await readNewest(watch, stopping).catch(() => [])
    const known = newest.findIndex(({ id }) => id === last)
    const unseen = isFirst ? [] : newest.slice(0, known === -1 ? newest.length : known)
    for (const event of unseen.toReversed()) watch.say(eventLine(event))
    last = newest[0]?.id ?? last
    await sleep(askEveryMs, undefined, { signal: stopping }).catch(() => undefined)
  }
}

/** The newest come first. */
async function readNewest({ url, key }: EventWatch, signal: AbortSignal): Promise<readonly Event[]> {
  const answer = await fetch(`${url}/v1/events?limit=${atOnceMax}`, { headers: { 'X-API-KEY': key }, signal })
  const { data = [] } = (await answer.json()) as { data?: Event[] }
  return data.filter(({ type }) => type.startsWith('deposit.'))
}

/** `20:15:03  settled     12.5 USDT on mainnet for shop, 12.481257 USDC on base (dep_…)`. */
function eventLine({ type, created_at: at, data }: Event): string {
  const { source, destination, reason } = data
  const paid = `${decimal(source.amount, source.decimals)} ${source.asset} on ${source.network}`
  const isDelivered = destination.time !== null && destination.amount !== null
  const place = destination.network === null ? '' : ` on ${destination.network}`
  const delivered = isDelivered
    ? `, ${decimal(destination.amount ?? '0', destination.decimals)} ${destination.asset}${place}`
    : ''
  const why = reason === null ? '' : `, ${reason}`
  const step = type.replace('deposit.', '').padEnd(10)
  return `${at.slice(11, 19)}  ${step}  ${paid} for ${data.owner.id}${delivered}${why} (${data.id})`
}

function decimal(units: string, decimals: number): string {
  const text = formatAmount(BigInt(units), decimals)
  return decimals === 0 ? text : text.replace(/\.?0+$/, '')
}
