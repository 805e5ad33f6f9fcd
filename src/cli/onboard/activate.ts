import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { retryQuarantine } from '../../app/retry.ts'
import { pollStream } from '../../jobs/poll/position.ts'
import type { Database } from '../../store/database.ts'
import { retryAlone } from '../../store/quarantine.ts'
import type { Tables } from '../../store/tables.ts'
import { withDatabase } from '../context.ts'
import { wrongUse } from '../options.ts'
import { profileSetting } from './profile.ts'
import type { Session } from './session.ts'

const lookEveryMs = 1000

/** Makes the profile active, takes in what was captured, and waits for the first deposit that is reconciled. */
export async function activate(
  session: Session,
  {
    webhooks,
    senders,
  }: { webhooks: Record<string, unknown> | null; senders: Readonly<Record<string, string[]>> },
): Promise<{ reconciled: number }> {
  const { file, at, name, context, say } = session
  await session.agree('Activate the service?')
  file.set([...at.service, 'profile'], profileSetting(session))
  if (webhooks !== null) file.set(at.webhooks, webhooks)
  if (Object.keys(senders).length > 0) file.set([...at.service, 'senders'], senders)
  file.set([...at.service, 'paused'], null)
  const undo = file.save()
  try {
    session.service()
  } catch (error) {
    undo()
    throw error
  }
  return withDatabase(context, async (db) => {
    const since = await databaseTime(db)
    await untilSeen(
      session,
      'the daemon polls the service',
      async () => (await polledSince(db, name, since)) || null,
    )
    const taken = await takeIn(db, session)
    say(`${taken} captured webhooks were verified and taken in.`)
    const reconciled = await untilSeen(
      session,
      'a deposit is reconciled',
      async () => (await countReconciled(db, name)) || null,
    )
    say(`${reconciled} deposits of ${name} are reconciled. Look at them with: bin/depositd deposits list`)
    return { reconciled }
  })
}

async function takeIn(db: Database<Tables>, session: Session): Promise<number> {
  const { settings } = session.service()
  let taken = 0
  await retryAlone(db, async () => {
    for await (const page of retryQuarantine(db, settings, session.name))
      taken += page.filter(({ outcome }) => ['stored', 'duplicate', 'conflicting'].includes(outcome)).length
  })
  return taken
}

async function untilSeen<Value>(
  { say, options }: Session,
  what: string,
  look: () => Promise<Value | null>,
): Promise<Value> {
  const deadline = Date.now() + options.wait * 1000
  let isSaid = false
  for (;;) {
    const found = await look()
    if (found !== null) return found
    if (!isSaid) say(`Waits until ${what}.`)
    isSaid = true
    if (Date.now() > deadline)
      throw wrongUse(
        `it took more than ${options.wait} s until ${what}`,
        'check that the daemon runs, and its log for settings_refused; then run this command again',
      )
    await pause(lookEveryMs)
  }
}

async function databaseTime(db: Database<Tables>): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`select now() as now`.execute(db)
  return rows[0]?.now ?? new Date()
}

async function polledSince(db: Database<Tables>, name: Session['name'], since: Date): Promise<boolean> {
  const { rows } = await sql<{ is_polled: boolean }>`
    select succeeded_at > ${since} as is_polled from stream where name = ${pollStream(name)}`.execute(db)
  return rows[0]?.is_polled ?? false
}

async function countReconciled(db: Database<Tables>, name: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from deposit
    where service = ${name} and state = 'reconciled' and merged_into is null`.execute(db)
  return rows[0]?.count ?? 0
}
