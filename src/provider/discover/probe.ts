import { isFault } from '../../core/errors.ts'
import { listingIn, type RecordListing } from '../infer/find-records.ts'
import type { ServiceCall } from '../service-call.ts'

/** One answer of a service whose calls are not known yet. */
export type ProbedAnswer = { path: string; body: unknown; link: string | null; listing: RecordListing | null }

/** Null if the service refuses the call, or does not answer it usably. */
export type Probe = (path: string, query?: Readonly<Record<string, string>>) => Promise<ProbedAnswer | null>

export type ProbeCounts = { requests: number; refusedKeys: number; answered: number }

/** Counts what the service was asked, so that a person can see it. Only reads. */
export function createProbe(call: ServiceCall): { probe: Probe; counts: ProbeCounts } {
  const counts: ProbeCounts = { requests: 0, refusedKeys: 0, answered: 0 }
  const probe: Probe = async (path, query = {}) => {
    const search = new URLSearchParams(query).toString()
    const whole = search === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${search}`
    counts.requests++
    const answer = await call({ method: 'GET', path: whole }).catch((error: unknown) => {
      if (isFault(error, 'remote_failed')) return null
      throw error
    })
    if (answer?.kind === 'refused' && [401, 403].includes(answer.status)) counts.refusedKeys++
    if (answer?.kind !== 'answered') return null
    counts.answered++
    return { path: whole, body: answer.body, link: answer.link, listing: listingIn(answer.body) }
  }
  return { probe, counts }
}
