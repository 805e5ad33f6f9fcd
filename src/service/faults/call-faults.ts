import { setTimeout } from 'node:timers/promises'
import { refusal } from '../http/problem.ts'
import type { Faults } from './faults.ts'

/** Seconds as they should be, then what callers meet now and then and must get over. */
const retriesAfter = ['1', '1', '1', '0', '86400', '-1', 'soon', 'Wed, 21 Oct 2015 07:28:00 GMT'] as const

/** Longer than callers wait. */
const stallMaxMs = 120_000

/**
 * Lets the call at hand pass, or makes of it what its draws say: a refusal, a failure, or no answer until `gone` tells
 * that nobody waits for one any more.
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
