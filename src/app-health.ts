import type { Settings } from './config/settings.ts'
import { assert } from './core/errors.ts'
import type { LiveScheme } from './intake/live-scheme.ts'
import { scanStream } from './jobs/chain/scan-position.ts'
import { pollStream } from './jobs/poll/poll-position.ts'
import type { Queue } from './jobs/queue/queue.ts'
import type { Check, Warning } from './ops/server.ts'
import { type Database, pingDatabase } from './store/database.ts'
import { oldestPending } from './store/inbox.ts'
import { stillStreams } from './store/streams.ts'
import type { Tables } from './store/tables.ts'

/** An observation that waits longer than this makes the daemon unready. */
const inboxOldestMaxSeconds = 60
/** So does a network or a poll that was last read completely longer ago, or never since the start. */
const streamAgeMaxSeconds = 300

type Checked = { db: Database<Tables>; queue: Queue; startedAt: Date }

export function checksOf({ networks }: Settings, { db, queue, startedAt }: Checked): Check[] {
  const scans = networks.filter(({ rpcUrls }) => rpcUrls.length > 0).map(({ name }) => scanStream(name))
  const awaited = { streams: [pollStream, ...scans], seconds: streamAgeMaxSeconds, since: startedAt }
  return [
    { part: 'database', ask: () => pingDatabase(db) },
    { part: 'queue', ask: queue.ping },
    { part: 'inbox', ask: () => refuseOldInbox(db) },
    { part: 'streams', ask: () => refuseStill(db, awaited) },
  ]
}

export function warningsOf({ signing }: LiveScheme): Warning[] {
  if (signing().scheme !== 'none') return []
  return [{ part: 'webhooks', problem: 'taken without a signature: webhooks.scheme is none' }]
}

async function refuseOldInbox(db: Database<Tables>): Promise<void> {
  const seconds = await oldestPending(db)
  assert(seconds <= inboxOldestMaxSeconds, `nothing waits ${seconds} s to be applied`)
}

async function refuseStill(db: Database<Tables>, awaited: Parameters<typeof stillStreams>[1]): Promise<void> {
  const still = await stillStreams(db, awaited)
  assert(
    still.length === 0,
    `every stream was read on within ${streamAgeMaxSeconds} s; not ${still.join(', ')}`,
  )
}
