import { setTimeout as pause } from 'node:timers/promises'
import type { Fault } from '../../core/errors.ts'
import type { ProvedProfile } from '../../provider/prove/prove-profile.ts'
import type { Context } from '../context.ts'
import { wrongUse } from '../options.ts'
import { type News, print } from '../print.ts'
import { activate, approvePolicy, follow, isActive } from './activate.ts'
import { proposeAddressBook } from './address-book.ts'
import { capture } from './capture.ts'
import { discover, type FoundCalls } from './discover.ts'
import { sendersOf, tryOut } from './dry-run.ts'
import { type OnboardProfile, profilePathOf, writeServiceProfile } from './profile.ts'
import { register } from './register.ts'
import { type OnboardOptions, openSession, type Session } from './session.ts'

/** Leads from an address and a key to a reconciled deposit. Called again, it continues where it stopped. */
export async function onboardCommand(context: Context, name: string, options: OnboardOptions): Promise<News> {
  const session = openSession(context, name, options)
  const found = isActive(session) ? null : await prepare(session)
  heading(session, 7, 'Activation')
  if (found === null) session.say(`${name} is active already.`)
  else await activate(session, found)
  await approvePolicy(session)
  const { reconciled } = await follow(session)
  const dryRun = found && { ...found.tried, deliveries: found.tried.deliveries.length }
  print(
    context,
    {
      service: name,
      profile: profilePathOf(session),
      lines: found?.lines,
      history: found?.history,
      dryRun,
      reconciled,
    },
    '',
  )
  return 'good'
}

function heading({ say }: Session, step: number, title: string): void {
  say(`\n${step} of 7  ${title}`)
}

async function prepare(session: Session) {
  heading(session, 1, 'Settings')
  await register(session)
  heading(session, 2, 'Calls of the service')
  const calls = await discover(session)
  heading(session, 3, 'Webhooks')
  const webhooks = await capture(session)
  heading(session, 4, 'Profile')
  const draft = await writeServiceProfile(session, calls, { isBookComplete: false })
  heading(session, 5, 'Address book')
  const history = await proposeAddressBook(session, { ...draft, list: calls.list })
  heading(session, 6, 'Dry run')
  const ready = await untilDecisiveProved(session, calls)
  const lines = showProofs(session, ready.proved)
  const open = unprovedDecisive(ready)
  if (open.length > 0) throw undecided(session, open)
  const tried = await tryOut(session, ready)
  if (tried.unread.length > 0) throw unreadable(session, tried.unread.length)
  return { webhooks, lines, tried, history, senders: sendersOf(session, tried) }
}

/** These decide what is booked, and for which payment. */
const decisive = [
  'record.id',
  ...['address', 'asset', 'amount', 'transaction'].map((name) => `record.deposit.${name}`),
]
const lookEveryMs = 2000

/** Waits for more samples, if they come in time. */
async function untilDecisiveProved(session: Session, calls: FoundCalls): Promise<OnboardProfile> {
  const deadline = Date.now() + session.options.wait * 1000
  for (;;) {
    const ready = await writeServiceProfile(session, calls, { isBookComplete: true })
    if (unprovedDecisive(ready).length === 0 || Date.now() > deadline) return ready
    await pause(lookEveryMs)
  }
}

/** What a person edited needs no proof. */
export function unprovedDecisive({
  proved,
  isEdited,
}: Pick<OnboardProfile, 'proved' | 'isEdited'>): string[] {
  const unsure = proved.proofs.flatMap(({ path, proof }) => (proof.kind === 'unsure' ? [path.join('.')] : []))
  return isEdited ? [] : decisive.filter((line) => unsure.includes(line))
}

function undecided(session: Session, lines: readonly string[]): Fault {
  const path = profilePathOf(session)
  return wrongUse(
    `not proved, although they decide what is booked: ${lines.join(', ')}`,
    `let the service report more deposits and run this command again, or correct ${path}: what you edited counts`,
  )
}

function showProofs(session: Session, { proofs, missing }: ProvedProfile) {
  const unsure = proofs.flatMap(({ path, proof }) =>
    proof.kind === 'unsure' ? [`  unsure  ${path.join('.')}: ${proof.why}`] : [],
  )
  const { length: all } = proofs
  session.say(`The profile ${profilePathOf(session)} has ${all} lines, ${unsure.length} of them unsure.`)
  for (const line of [...unsure, ...missing.map((one) => `  missing  ${one}`)]) session.say(line)
  return { all, unsure: unsure.length }
}

function unreadable(session: Session, samples: number): Fault {
  const path = profilePathOf(session)
  return wrongUse(
    `the profile cannot read ${samples} of the samples`,
    `correct ${path}, try it with "bin/depositd profile test ${path}", and run this command again: it keeps what you edited`,
  )
}
