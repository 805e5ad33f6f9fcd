import { setTimeout as pause } from 'node:timers/promises'
import { webhookSecretsSetting } from '../../config/settings.ts'
import type { Fault } from '../../core/errors.ts'
import { defaultService } from '../../core/evidence.ts'
import { detectScheme, toSection } from '../../intake/detect/detect-scheme.ts'
import { transfersPathOf } from '../../intake/server.ts'
import type { Keys } from '../../intake/signature/scheme.ts'
import type { ProvedProfile } from '../../provider/prove/prove-profile.ts'
import { newestQuarantined } from '../../store/quarantine.ts'
import { type Context, withDatabase } from '../context.ts'
import { readTextFile } from '../files.ts'
import { wrongUse } from '../options.ts'
import { type News, print } from '../print.ts'
import { activate, approvePolicy, follow, isActive } from './activate.ts'
import { proposeAddressBook } from './address-book.ts'
import { discover, type FoundCalls } from './discover.ts'
import { sendersOf, tryOut } from './dry-run.ts'
import { type OnboardProfile, profilePathOf, writeServiceProfile } from './profile.ts'
import { type OnboardOptions, openSession, type Session, sectionOf } from './session.ts'

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

/** Until the scheme of the sender is known, every webhook goes to the quarantine. */
const capturing = { scheme: 'capture' }

/**
 * Writes the service into the settings file, paused and capturing. If the settings are then invalid, for example because
 * a secret is missing, the file stays as it was.
 */
async function register(session: Session): Promise<void> {
  const { name, options, file, at, say } = session
  if (file.has([...at.service, 'paused']) || (name !== defaultService && file.has(at.service))) {
    say(`${name} is in the settings file already.`)
    session.service()
    return
  }
  const section = sectionToWrite(session)
  say(
    `Adds ${at.service.join('.')} to ${session.settingsPath}: paused, every webhook kept in the quarantine.`,
  )
  await session.agree('Write it?')
  for (const [key, value] of Object.entries(section)) file.set([...at.service, key], value)
  file.set(at.webhooks, capturing)
  file.save(() => session.service())
  say(`Webhooks of this service go to ${transfersPathOf(name)}; a running daemon follows within seconds.`)
  if (options.publicKeys === undefined && session.service().service.webhooks.keys.secrets.length === 0)
    say(`No webhook secret is set: put it into ${secretsSetting(session)} before the webhooks step.`)
}

function secretsSetting({ name }: Pick<Session, 'name'>): string {
  return webhookSecretsSetting(name)
}

function sectionToWrite({ name, options }: Session): Record<string, unknown> {
  const secret = `SERVICE_API_${name.toUpperCase().replaceAll('-', '_')}_KEY`
  const auth = options.auth === undefined ? { secret } : sectionOf('--auth', options.auth)
  if (name === defaultService) return { ...(options.auth !== undefined && { auth }), paused: true }
  if (options.url === undefined)
    throw wrongUse(
      'the address of the service is missing',
      'give it with --url, like https://api.service.example',
    )
  return { url: options.url, auth, paused: true }
}

/** With fewer, several schemes may verify all of them by chance. */
const capturesMin = 3
const capturesMax = 500
const capturesEveryMs = 1000

/**
 * Waits for webhooks in the quarantine, and finds the scheme that verifies them. They stay there until the profile can
 * read them.
 * @returns the section of the settings file; null if it has a scheme already
 */
async function capture(session: Session): Promise<Record<string, unknown> | null> {
  const { file, at, say, options } = session
  const scheme = (file.read(at.webhooks) as { scheme?: string } | undefined)?.scheme
  if (scheme !== capturing.scheme) {
    say(`The scheme is set already: ${scheme ?? 'the default one'}.`)
    return null
  }
  const captures = await waitForCaptures(session)
  const found = detectScheme(captures, keysOf(session), publicUrlOf(session))
  if (found.kind === 'none') throw noScheme(captures.length)
  const section = toSection(found.settings, options.publicKeys ?? null)
  say(
    `${found.verified.length} of ${captures.length} captured webhooks verify by: ${JSON.stringify(section)}`,
  )
  for (const other of found.alike)
    say(`  unsure  also: ${JSON.stringify(toSection(other, options.publicKeys ?? null))}`)
  await session.agree('Is this the scheme of the sender?')
  return section
}

function keysOf(session: Session): Keys {
  const { secrets } = session.service().service.webhooks.keys
  const path = session.options.publicKeys
  const publicKeys = path === undefined ? null : readTextFile('--public-keys', path)
  if (secrets.length === 0 && publicKeys === null) throw noSecret(session)
  return { secrets, publicKeys }
}

function noSecret(session: Session): Fault {
  const fix = `put the secret into ${secretsSetting(session)}, or give --public-keys FILE; then run this command again`
  return wrongUse('no secret verifies webhooks', fix)
}

function noScheme(captures: number): Fault {
  return wrongUse(
    `none of ${captures} captured webhooks verifies with this secret by any known scheme`,
    'check the secret; if the sender signs its URL, set PUBLIC_URL to the address that it calls',
  )
}

function publicUrlOf({ environment }: Session): string | null {
  return environment.PUBLIC_URL ?? null
}

async function waitForCaptures({ context, name, options, say }: Session) {
  const deadline = Date.now() + options.wait * 1000
  let seen = -1
  for (;;) {
    const captures = await withDatabase(context, (db) => newestQuarantined(db, capturesMax, name))
    if (captures.length >= capturesMin) return captures
    if (captures.length !== seen)
      say(`Waits for webhooks at ${transfersPathOf(name)}: ${captures.length} of ${capturesMin} so far.`)
    seen = captures.length
    if (Date.now() > deadline)
      throw wrongUse(
        `only ${seen} webhooks arrived within ${options.wait} s`,
        'let the service send some, for example by a deposit, check that the daemon runs, and run this command again',
      )
    await pause(capturesEveryMs)
  }
}
