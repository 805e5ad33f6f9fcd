import { setTimeout as pause } from 'node:timers/promises'
import type { Fault } from '../../core/errors.ts'
import { detectScheme, toSection } from '../../intake/detect/detect-scheme.ts'
import { transfersPathOf } from '../../intake/server.ts'
import type { Keys } from '../../intake/signature/scheme.ts'
import { newestQuarantined } from '../../store/quarantine.ts'
import { withDatabase } from '../context.ts'
import { readTextFile } from '../files.ts'
import { wrongUse } from '../options.ts'
import { capturing, secretsSetting } from './register.ts'
import type { Session } from './session.ts'

/** Fewer may agree by chance in more than the scheme. */
const capturesMin = 3
const capturesMax = 500
const lookEveryMs = 1000

/**
 * Waits for webhooks in the quarantine, and finds the scheme that verifies them. They stay there until the profile can
 * read them.
 * @returns the section of the settings file; null if it has a scheme already
 */
export async function capture(session: Session): Promise<Record<string, unknown> | null> {
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
    await pause(lookEveryMs)
  }
}
