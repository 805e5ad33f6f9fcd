import { randomBytes } from 'node:crypto'
import type { Kysely } from 'kysely'
import { type CanaryOutcome, canaryBody } from '../core/canary.ts'
import { postOnce } from '../outbox/post-webhook.ts'
import { claimCanary, endCanary, startCanary } from '../store/canary.ts'
import type { Tables } from '../store/tables.ts'

export type CanaryResult = {
  outcome: CanaryOutcome
  seconds: number
  /** Without any part of the request; null on success. */
  problem: string | null
}

export type SendCanaryDeps = {
  db: Kysely<Tables>
  url: string
  everyMs: number
  timeoutMs: number
  /** The setting that has the secrets of the service. */
  secretsSetting: string
  /** Null if no currently valid secret can sign. */
  sign: (unsigned: {
    id: string
    body: Buffer
    at: Date
    url: string
  }) => Readonly<Record<string, string>> | null
  now: () => Date
  observe: (result: CanaryResult) => void
}

export async function sendCanary(deps: SendCanaryDeps): Promise<void> {
  const { db, everyMs, observe } = deps
  if (!(await claimCanary(db, everyMs))) return
  const token = randomBytes(32).toString('base64url')
  await startCanary(db, token)
  const startedAt = performance.now()
  const posted = await post(deps, token)
  const seconds = (performance.now() - startedAt) / 1000
  if (posted.kind !== 'accepted') {
    observe({ outcome: posted.kind, seconds, problem: posted.problem })
    return
  }
  const isReceived = await endCanary(db, token)
  observe(
    isReceived
      ? { outcome: 'received', seconds, problem: null }
      : {
          outcome: 'unrecorded',
          seconds,
          problem: 'the answer was 202, but no intake of this database received it',
        },
  )
}

function post({ url, timeoutMs, secretsSetting, sign, now }: SendCanaryDeps, token: string) {
  const body = canaryBody(token)
  const headers = sign({ id: `canary${randomBytes(16).toString('hex')}`, body, at: now(), url })
  if (headers === null) {
    const problem = `no currently valid secret of ${secretsSetting} can sign for this address`
    return { kind: 'failed' as const, problem }
  }
  return postOnce({ url, headers, body, timeoutMs })
}
