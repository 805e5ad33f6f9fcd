import { setTimeout as pause } from 'node:timers/promises'
import { retryQuarantine } from '../../app/retry.ts'
import { ruleSetOf, writeRuleSet } from '../../core/rule-set.ts'
import { policyChangeOf } from '../../jobs/people/policy-procedure.ts'
import { pollStream } from '../../jobs/poll/position.ts'
import { countReconciled } from '../../store/books/show-deposits.ts'
import type { Database } from '../../store/database.ts'
import { retryAlone } from '../../store/quarantine.ts'
import { hasPeople, hasSucceeded, listRuleSets, readClock } from '../../store/streams.ts'
import type { Tables } from '../../store/tables.ts'
import { withDatabase } from '../context.ts'
import { wrongUse } from '../options.ts'
import { profileSetting } from './profile.ts'
import type { Session } from './session.ts'
import { signOrWait } from './sign-or-wait.ts'

const lookEveryMs = 1000

/** If so, there is nothing left to do but to wait. */
export function isActive({ file, at, ...session }: Session): boolean {
  const isOurs = file.read([...at.service, 'profile']) === profileSetting(session)
  return isOurs && file.read([...at.service, 'paused']) !== true
}

/** Makes the profile active, and waits until the daemon follows. */
export async function activate(
  session: Session,
  {
    webhooks,
    senders,
  }: { webhooks: Record<string, unknown> | null; senders: Readonly<Record<string, string[]>> },
): Promise<void> {
  const { file, at } = session
  await session.agree('Activate the service?')
  file.set([...at.service, 'profile'], profileSetting(session))
  if (webhooks !== null) file.set(at.webhooks, webhooks)
  if (Object.keys(senders).length > 0) file.set([...at.service, 'senders'], senders)
  file.set([...at.service, 'paused'], null)
  file.set([...at.service, 'webhooksSince'], new Date().toISOString())
  file.save(() => session.service())
  await withDatabase(session.context, async (db) => {
    const since = (await readClock(db))()
    const isPolled = () => hasSucceeded(db, pollStream(session.name), since)
    await untilSeen(session, 'the daemon polls the service', async () => (await isPolled()) || null)
  })
}

/**
 * The senders of the service and its start belong to the policy.
 * @throws Fault `usage_bad` if a second person has to sign
 */
export async function approvePolicy(session: Session): Promise<void> {
  const { settings } = session.service()
  const rules = ruleSetOf(settings)
  const isDone = await withDatabase(session.context, async (db) => {
    const [active] = await listRuleSets(db, 1)
    return active?.rules === writeRuleSet(rules) || !(await hasPeople(db))
  })
  if (isDone) return
  await session.agree('The policy changes with it. Sign it?')
  await signOrWait(session, { kind: 'policy', change: policyChangeOf(rules) })
}

/** Takes in what was captured, and waits for the first deposit that is reconciled. */
export function follow(session: Session): Promise<{ reconciled: number }> {
  const { name, context, say } = session
  return withDatabase(context, async (db) => {
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
