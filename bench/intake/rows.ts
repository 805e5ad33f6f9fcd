import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { defaultService } from '../../src/core/evidence.ts'
import { createInboxWriter, type ReceivedWebhook, writerLimits } from '../../src/intake/inbox-writer.ts'
import { type Database, openDatabase } from '../../src/store/database.ts'
import { appendInbox } from '../../src/store/inbox.ts'
import type { Tables } from '../../src/store/tables.ts'
import { storeWebhooks } from '../../src/store/webhooks.ts'
import type { Ground } from '../ground.ts'
import { bodyOf } from './load.ts'

/** How the rows of one arm of B2 get into the inbox. */
export const writers = {
  ours: 'the inbox writer, 1,000 webhooks waiting at a time',
  unnest: 'one statement with unnest per 100 rows, one after the other',
  copy: 'COPY of a file on the server into the same table alone',
} as const

export type Writer = keyof typeof writers
export const writerNames = Object.keys(writers) as Writer[]

/** B2: rows per second. */
export type RowRound = { writer: Writer; perSecond: number }

export type RowSettings = {
  rounds: number
  /** After this long no further row is begun, except by COPY, which is one statement. */
  seconds: number
  rowsPerRound: number
  bodyBytes: number
}

const waitingAtATime = 1000
const unnestRows = 100

/**
 * Measures all writers in turns, into one table.
 * @throws where a row is missing after it was answered.
 */
export async function measureRows(
  ground: Ground,
  { rounds, seconds, rowsPerRound, bodyBytes }: RowSettings,
  progress: (text: string) => void,
): Promise<RowRound[]> {
  const { db: owner, url } = await ground.database('bench_rows')
  const db = openDatabase<Tables>({
    url,
    poolMax: 12,
    applicationName: 'bench rows',
    role: 'depositd_daemon',
  })
  const results: RowRound[] = []
  let written = 0
  for (let round = 0; round <= rounds; round++) {
    for (const writer of writerNames) {
      const length = round === 0 ? Math.min(5000, rowsPerRound) : rowsPerRound
      const rows = Array.from({ length }, (_, number) => rowOf(`${writer}_${round}_${number}`, bodyBytes))
      const write = prepareWriter(writer, rows, { db, owner, folder: ground.folder })
      const startedAt = performance.now()
      const count = await write(startedAt + seconds * 1000)
      const perSecond = count / ((performance.now() - startedAt) / 1000)
      written += count
      if (round === 0) continue
      progress(`B2 round ${round}, ${writer}: ${Math.round(perSecond)} rows/s\n`)
      results.push({ writer, perSecond })
    }
  }
  await db.destroy()
  await checkRows(owner, written)
  return results
}

function rowOf(id: string, bodyBytes: number): ReceivedWebhook {
  return {
    source: 'webhook',
    service: defaultService,
    sourceKey: id,
    body: Buffer.from(bodyOf(id, bodyBytes)),
    headers: { 'content-type': 'application/json', 'webhook-id': id, 'verified-by': 'standard-webhooks' },
    receivedAt: new Date(),
  }
}

type Places = { db: Database<Tables>; owner: Database<Tables>; folder: string }

/** Writes rows until none is left or the time, in milliseconds, has come, and tells how many. */
type Write = (endsAt: number) => Promise<number>

function prepareWriter(
  writer: Writer,
  rows: readonly ReceivedWebhook[],
  { db, owner, folder }: Places,
): Write {
  if (writer === 'ours') return (endsAt) => writeOurs(db, rows, endsAt)
  if (writer === 'unnest') return (endsAt) => writeUnnest(db, rows, endsAt)
  const path = join(folder, 'rows.copy')
  writeFileSync(path, rows.map(copyLine).join(''))
  return async () => {
    await sql`copy inbox (source, source_key, body, headers, received_at) from ${sql.lit(path)}`.execute(
      owner,
    )
    return rows.length
  }
}

/** As the endpoint does it: each webhook waits for its own answer, and the next takes its place. */
async function writeOurs(
  db: Database<Tables>,
  rows: readonly ReceivedWebhook[],
  endsAt: number,
): Promise<number> {
  const { write } = createInboxWriter({
    store: async (batch) => (await storeWebhooks(db, batch)).outcomes,
    ...writerLimits,
  })
  let next = 0
  const lane = async () => {
    while (performance.now() < endsAt) {
      const row = rows[next]
      if (row === undefined) return
      next++
      const outcome = await write(row)
      if (outcome !== 'stored') throw new Error(`a new webhook was answered ${outcome}`)
    }
  }
  await Promise.all(Array.from({ length: waitingAtATime }, lane))
  return next
}

async function writeUnnest(
  db: Database<Tables>,
  rows: readonly ReceivedWebhook[],
  endsAt: number,
): Promise<number> {
  let next = 0
  while (next < rows.length && performance.now() < endsAt) {
    const batch = rows.slice(next, next + unnestRows)
    await appendInbox(db, batch)
    next += batch.length
  }
  return next
}

/** The text form of COPY. */
function copyLine({ source, sourceKey, body, headers, receivedAt }: ReceivedWebhook): string {
  const bytes = `\\\\x${body.toString('hex')}`
  return `${[source, sourceKey, bytes, JSON.stringify(headers), receivedAt.toISOString()].join('\t')}\n`
}

async function checkRows(db: Database<Tables>, expected: number): Promise<void> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from inbox
    where convert_from(body, 'utf8')::jsonb ->> 'id' = source_key`.execute(db)
  const count = rows[0]?.count ?? 0
  if (count !== expected) throw new Error(`${expected} rows were answered as stored, and ${count} are there`)
}
