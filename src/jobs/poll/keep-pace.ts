import { setTimeout as sleep } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import { isMorePending } from '../../store/inbox.ts'
import type { Tables } from '../../store/tables.ts'

/** So many rows may wait to be applied when the next page is read: a webhook that comes in is applied behind them. */
const pendingMax = 100
const lookEveryMs = 20
/** Where nothing is applied, records are read all the same. */
const patienceMs = 500

type KeepPaceDeps = { db: Kysely<Tables>; wake: (job: 'apply') => Promise<void> }

/** Has applied what was read, until little is left: a webhook need not wait behind all that a long list brings. */
export async function keepPace({ db, wake }: KeepPaceDeps, waitMaxMs = patienceMs): Promise<void> {
  await wake('apply')
  const until = performance.now() + waitMaxMs
  while (performance.now() < until && (await isMorePending(db, pendingMax))) await sleep(lookEveryMs)
}
