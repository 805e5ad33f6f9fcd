import { setTimeout as sleep } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import { isMorePending } from '../../store/inbox.ts'
import type { Tables } from '../../store/tables.ts'

/** Pending rows allowed before the next page is read. A new webhook is applied after them. */
const pendingMax = 100
const lookEveryMs = 20
/** If rows are not being applied, reading continues after this time. */
const patienceMs = 500

type KeepPaceDeps = { db: Kysely<Tables>; wake: (job: 'apply') => Promise<void> }

/** Applies what was read until few rows are pending, so that a webhook does not wait behind a long list. */
export async function keepPace({ db, wake }: KeepPaceDeps, waitMaxMs = patienceMs): Promise<void> {
  await wake('apply')
  const until = performance.now() + waitMaxMs
  while (performance.now() < until && (await isMorePending(db, pendingMax))) await sleep(lookEveryMs)
}
