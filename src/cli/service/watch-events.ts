import { setTimeout as sleep } from 'node:timers/promises'
import { formatAmount } from '../../core/money.ts'
import type { DepositRecord } from '../../service/deposits/record.ts'
import type { ServiceDatabase } from '../../service/tables.ts'
import { type EventRow, listEvents } from '../../service/webhooks/events.ts'

type DepositEventBody = { type: string; created_at: string; data: DepositRecord }

export type EventWatch = { db: ServiceDatabase; say: (line: string) => void }

const askEveryMs = 1000
const atOnceMax = 100

/**
 * Prints a line for each step of each deposit from now on, as an integrator would learn of it. It reads the database,
 * because API calls would be counted and would be subject to faults.
 */
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

async function follow({ db, say }: EventWatch, stopping: AbortSignal): Promise<void> {
  let last: bigint | null = null
  while (!stopping.aborted) {
    // If the read fails, the next one catches up.
    const newest: readonly EventRow[] = await readNewest(db).catch(() => [])
    for (const { sequence, body } of newest.toReversed()) {
      const reported = JSON.parse(body) as DepositEventBody
      if (last !== null && sequence > last && reported.type.startsWith('deposit.')) say(eventLine(reported))
    }
    last = newest[0]?.sequence ?? last ?? 0n
    await sleep(askEveryMs, undefined, { signal: stopping }).catch(() => undefined)
  }
}

function readNewest(db: ServiceDatabase): Promise<readonly EventRow[]> {
  return listEvents(db, { type: undefined, deposit: undefined }, { below: null, limit: atOnceMax })
}

/** `20:15:03  settled     12.5 USDT on mainnet for shop, 12.481257 USDC on base (dep_…)`. */
function eventLine({ type, created_at: at, data }: DepositEventBody): string {
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
