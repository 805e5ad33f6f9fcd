import { createHash, createPublicKey, randomBytes } from 'node:crypto'
import type { RegistrationResponseJSON } from '@simplewebauthn/server'
import type { Kysely } from 'kysely'
import { Fault } from '../../core/errors.ts'
import type { Person } from '../../people/decision.ts'
import { isConfirmed, type Passkey, readPasskey, writePasskey } from '../../people/passkey.ts'
import type { PersonRole } from '../../people/roles.ts'
import {
  type ConsoleSession,
  endSession,
  type Invitation,
  insertInvitation,
  insertSession,
  keepPasskey,
  readInvitation,
  readSession,
  recordAccess,
} from '../../store/sessions.ts'
import type { Tables } from '../../store/tables.ts'
import { readRegister } from './decide.ts'

export type SignInDeps = {
  db: Kysely<Tables>
  /** The public key of the first administrator, from the settings. */
  pinned: string | null
  /** Address of the console, at which passkeys are made and sign. */
  origin: string
}

/** What the browser holds; a secret. */
export type SignInToken = string

export type SignedIn = Person & { token: SignInToken }

const minuteMs = 60_000
const lasts = {
  challengeMs: 5 * minuteMs,
  sessionMs: 12 * 60 * minuteMs,
  linkMs: 60 * minuteMs,
  invitationMs: 24 * 60 * minuteMs,
}

/** For one sign-in by passkey. */
export async function startSignIn({ db }: SignInDeps): Promise<{ token: SignInToken; challenge: string }> {
  const challenge = newSecret()
  return { token: await startSession(db, challenge), challenge }
}

/** What the browser holds until the person has shown who they are. */
export async function startSession(db: Kysely<Tables>, challenge: string): Promise<SignInToken> {
  const token = newSecret()
  const session = { token: hashOf(token), person: null, roles: null, challenge }
  await insertSession(db, { ...session, lastsMs: lasts.challengeMs })
  return token
}

/** The challenge, once; null if there is none. */
export async function endStarted(db: Kysely<Tables>, token: SignInToken): Promise<string | null> {
  const started = await endSession(db, hashOf(token))
  return started?.person === null ? started.challenge : null
}

/**
 * @param assertion what the passkey returned
 * @throws Fault `request_refused` if it is not of a person of the register, or the challenge was used before
 */
export async function signIn(deps: SignInDeps, token: SignInToken, assertion: string): Promise<SignedIn> {
  const challenge = await endStarted(deps.db, token)
  if (challenge === null) throw refusedSignIn('the sign-in took too long or was used already: begin again')
  const { people } = await readRegister(deps.db, deps.pinned)
  const person = [...people.values()].find(({ keys }) =>
    keys.some((key) => {
      const passkey = passkeyAt(deps, key)
      return passkey !== null && isConfirmed(challenge, assertion, passkey)
    }),
  )
  if (person === undefined)
    throw refusedSignIn('no person of the register has this passkey: ask an administrator for an invitation')
  return {
    ...person,
    token: await openSession(deps.db, { person: person.person, roles: null, by: 'passkey' }),
  }
}

/** Signs this person in once, without a passkey: for a user alone on their own machine. */
export async function signInLink(db: Kysely<Tables>, person: string): Promise<SignInToken> {
  const link = newSecret()
  await insertSession(db, { token: hashOf(link), person, roles: null, challenge: '', lastsMs: lasts.linkMs })
  return link
}

/** @returns null if the link was used, is too old, or never was one */
export async function signInByLink(deps: SignInDeps, link: SignInToken): Promise<SignedIn | null> {
  const person = (await endSession(deps.db, hashOf(link)))?.person ?? null
  const known = person === null ? null : await personNamed(deps, person)
  return (
    known && {
      ...known,
      token: await openSession(deps.db, { person: known.person, roles: null, by: 'link' }),
    }
  )
}

/**
 * @param roles null for those of the register
 * @param by a passkey, a link, or the provider
 */
export async function openSession(
  db: Kysely<Tables>,
  { person, roles, by }: Pick<ConsoleSession, 'roles'> & { person: string; by: string },
): Promise<SignInToken> {
  const token = newSecret()
  await insertSession(db, { token: hashOf(token), person, roles, challenge: '', lastsMs: lasts.sessionMs })
  await recordAccess(db, { person, action: 'signed_in', detail: by })
  return token
}

/** A token for a command line, and what a link says of it: a person who is signed in grants it a session. */
export function newDevice(): { token: SignInToken; device: string } {
  const token = newSecret()
  return { token, device: hashOf(token).toString('base64url') }
}

/**
 * @param token of the browser in which the person is signed in
 * @throws Fault `request_refused` if the person is signed out, or the link was used
 */
export async function grantDevice({ db }: SignInDeps, device: string, token: SignInToken): Promise<void> {
  const { person = null, roles = null } = (await readSession(db, hashOf(token))) ?? {}
  if (person === null) throw refusedSignIn('you are signed out')
  const granted = Buffer.from(device, 'base64url')
  if ((await readSession(db, granted)) !== null) throw refusedSignIn('this link was used already')
  await insertSession(db, { token: granted, person, roles, challenge: '', lastsMs: lasts.sessionMs })
  await recordAccess(db, { person, action: 'signed_in', detail: 'command line' })
}

/** With the roles of now; null without a session, or if the person was removed since. */
export async function signedIn(deps: SignInDeps, token: SignInToken): Promise<SignedIn | null> {
  const { person = null, roles = null } = (await readSession(deps.db, hashOf(token))) ?? {}
  if (person === null) return null
  const known = await personNamed(deps, person)
  if (roles === null) return known && { ...known, token }
  // The provider chooses the name, so that no roles of the register may follow from it.
  return { person, roles: [...roles], keys: known?.keys ?? [], token }
}

async function personNamed({ db, pinned }: SignInDeps, name: string): Promise<Person | null> {
  return (await readRegister(db, pinned)).people.get(name.toLowerCase()) ?? null
}

export async function signOut({ db }: Pick<SignInDeps, 'db'>, token: SignInToken): Promise<void> {
  const session = await endSession(db, hashOf(token))
  if (session?.person != null)
    await recordAccess(db, { person: session.person, action: 'signed_out', detail: null })
}

/** Those of the person that this console can use. */
export function passkeysOf(deps: Pick<SignInDeps, 'origin'>, { keys }: Person): Passkey[] {
  return keys.map((key) => passkeyAt(deps, key)).filter((passkey) => passkey !== null)
}

function passkeyAt({ origin }: Pick<SignInDeps, 'origin'>, key: string): Passkey | null {
  const passkey = readPasskey(key)
  return passkey?.origin === origin ? passkey : null
}

/** @returns the end of the link with which the person makes a passkey */
export async function invite(
  db: Kysely<Tables>,
  { person, roles, by }: { person: string; roles: readonly PersonRole[]; by: string | null },
): Promise<SignInToken> {
  const token = newSecret()
  const challenge = newSecret()
  await insertInvitation(db, { token: hashOf(token), person, roles, challenge, lastsMs: lasts.invitationMs })
  await recordAccess(db, { person, action: 'invited', detail: by })
  return token
}

export function invitationOf({ db }: Pick<SignInDeps, 'db'>, token: SignInToken): Promise<Invitation | null> {
  return readInvitation(db, { token: hashOf(token) })
}

/**
 * Keeps the public key until an administrator decides about it.
 * @param registration what the browser returned
 * @throws Fault `request_refused`
 */
export async function takePasskey(
  deps: SignInDeps,
  token: SignInToken,
  registration: string,
): Promise<string> {
  const invitation = await invitationOf(deps, token)
  if (invitation === null) throw refusedSignIn('the invitation has ended: ask for another')
  if (invitation.passkey !== null) throw refusedSignIn('the invitation has a passkey already')
  const passkey = writePasskey(await registered(deps, invitation, registration))
  await keepPasskey(deps.db, hashOf(token), passkey)
  await recordAccess(deps.db, { person: invitation.person, action: 'passkey_made', detail: codeOf(passkey) })
  return passkey
}

/** P-256, and RSA of older devices. */
const algorithms = [-7, -257] as const

async function registered(
  { origin }: SignInDeps,
  { person, challenge }: Invitation,
  registration: string,
): Promise<Passkey> {
  // A fifth of all modules, for what few processes ever do.
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server')
  try {
    const { registrationInfo: info } = await verifyRegistrationResponse({
      response: JSON.parse(registration) as RegistrationResponseJSON,
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: new URL(origin).hostname,
      supportedAlgorithmIDs: [...algorithms],
    })
    if (info === undefined) throw new Error('it is not verified')
    const { id, publicKey } = info.credential
    return { person, origin, credential: id, publicKey: await keyOf(publicKey) }
  } catch (error) {
    throw refusedSignIn(`the passkey cannot be used: ${error instanceof Error ? error.message : 'it is odd'}`)
  }
}

function text(bytes: unknown): string {
  return Buffer.from(bytes as Uint8Array).toString('base64url')
}

async function keyOf(encoded: Uint8Array<ArrayBuffer>) {
  const { cose, decodeCredentialPublicKey } = await import('@simplewebauthn/server/helpers')
  const key = decodeCredentialPublicKey(encoded)
  if (cose.isCOSEPublicKeyEC2(key)) {
    const [x, y] = [text(key.get(cose.COSEKEYS.x)), text(key.get(cose.COSEKEYS.y))]
    return createPublicKey({ format: 'jwk', key: { kty: 'EC', crv: 'P-256', x, y } })
  }
  if (!cose.isCOSEPublicKeyRSA(key)) throw new Error('its kind is not supported')
  const [n, e] = [text(key.get(cose.COSEKEYS.n)), text(key.get(cose.COSEKEYS.e))]
  return createPublicKey({ format: 'jwk', key: { kty: 'RSA', n, e } })
}

/** Short enough to compare by eye or by telephone. */
export function codeOf(passkey: string): string {
  const hash = createHash('sha256').update(passkey).digest('hex').slice(0, 12)
  return hash.replaceAll(/(.{4})(?=.)/g, '$1-')
}

function newSecret(): SignInToken {
  return randomBytes(32).toString('base64url')
}

function hashOf(token: SignInToken): Buffer {
  return createHash('sha256').update(token).digest()
}

export function refusedSignIn(problem: string): Fault<'request_refused'> {
  return new Fault('request_refused', { status: 403, reason: 'sign_in_refused', problem })
}
