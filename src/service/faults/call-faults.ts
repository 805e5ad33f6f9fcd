import { setTimeout } from 'node:timers/promises'
import { refusal } from '../http/problem.ts'
import type { Faults } from './faults.ts'

/** Mostly valid seconds, then unusual values that callers sometimes receive and must handle. */
const retriesAfter = ['1', '1', '1', '0', '86400', '-1', 'soon', 'Wed, 21 Oct 2015 07:28:00 GMT'] as const

/** Longer than callers wait. */
const stallMaxMs = 120_000

/**
 * Passes a request or injects the fault that is drawn: a 429, a 500, or no answer until `gone` aborts.
 * @throws Fault `request_refused`
 */
export async function strikeCall(faults: Faults, gone: () => AbortSignal): Promise<void> {
  const [isRefused, isFailed, isStalled] = [
    faults.strikesRequest('refuseCallRate'),
    faults.strikesRequest('failCallRate'),
    faults.strikesRequest('stallCallRate'),
  ]
  if (isRefused) {
    const headers = { 'retry-after': faults.pick('retry-after', retriesAfter) }
    throw refusal('rate_limited', 'a fault of the service: send the request again later', { headers })
  }
  if (isFailed) throw refusal('internal', 'a fault of the service: send the request again')
  if (!isStalled) return
  await setTimeout(stallMaxMs, undefined, { signal: gone() }).catch(() => undefined)
  throw refusal('internal', 'a fault of the service: it gave no answer')
}
