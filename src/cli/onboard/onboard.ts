import type { Context } from '../context.ts'
import { wrongUse } from '../options.ts'
import { type News, print } from '../print.ts'
import { activate } from './activate.ts'
import { proposeAddressBook } from './address-book.ts'
import { capture } from './capture.ts'
import { discover } from './discover.ts'
import { dryRun, sendersOf } from './dry-run.ts'
import { profilePathOf, writeServiceProfile } from './profile.ts'
import { register } from './register.ts'
import { type OnboardOptions, openSession } from './session.ts'

/** Leads from an address and a key to a reconciled deposit. Called again, it continues where it stopped. */
export async function onboardCommand(context: Context, name: string, options: OnboardOptions): Promise<News> {
  const session = openSession(context, name, options)
  const { say } = session
  const step = (number: number, title: string) => say(`\n${number} of 7  ${title}`)
  step(1, 'Settings')
  await register(session)
  step(2, 'Calls of the service')
  const calls = await discover(session)
  step(3, 'Webhooks')
  const webhooks = await capture(session)
  step(4, 'Profile')
  const draft = await writeServiceProfile(session, calls, { isBookComplete: false })
  step(5, 'Address book')
  await proposeAddressBook(session, draft)
  step(6, 'Dry run')
  const ready = await writeServiceProfile(session, calls, { isBookComplete: true })
  const unsure = ready.proved.proofs.filter(({ proof }) => proof.kind === 'unsure')
  const counts = { lines: ready.proved.proofs.length, unsure: unsure.length }
  say(`The profile ${profilePathOf(session)} has ${counts.lines} lines, ${counts.unsure} of them unsure.`)
  for (const { path, proof } of unsure)
    if (proof.kind === 'unsure') say(`  unsure  ${path.join('.')}: ${proof.why}`)
  for (const one of ready.proved.missing) say(`  missing  ${one}`)
  const tried = await dryRun(session, ready)
  if (tried.unread.length > 0)
    throw wrongUse(
      `the profile cannot read ${tried.unread.length} of the samples`,
      `correct it, and try it with: bin/depositd profile test ${profilePathOf(session)}`,
    )
  const senders = sendersOf(session, tried)
  step(7, 'Activation')
  const { reconciled } = await activate(session, { webhooks, senders })
  print(
    context,
    {
      service: name,
      profile: { path: profilePathOf(session), ...counts },
      dryRun: { ...tried, deliveries: tried.deliveries.length },
      reconciled,
    },
    '',
  )
  return 'good'
}
