import type { Kysely } from 'kysely'
import { decisionProcedures } from '../../app/rules.ts'
import { isSet, readFrom } from '../../config/environment.ts'
import { originOfConsole, readLinks, readOps, readPeople } from '../../config/environment-settings.ts'
import { type DecisionDeps, readRegister } from '../../jobs/people/decide.ts'
import { refuseSigner } from '../../jobs/people/refuse.ts'
import { type SignedIn, type SignInDeps, signedIn } from '../../jobs/people/sign-in.ts'
import { type Signer, signerOf } from '../../people/decision.ts'
import type { PersonRole } from '../../people/roles.ts'
import type { Database } from '../../store/database.ts'
import { isReadOnly, mayReadSessions, type RecordedAct, recordAccess } from '../../store/sessions.ts'
import type { Tables } from '../../store/tables.ts'
import { nameOf } from '../actor.ts'
import { attachedEnvironment, attachedSettings, type Context, longQueryMs, withDatabase } from '../context.ts'
import { wrongUse } from '../options.ts'
import { reportProgress } from '../print.ts'
import { progressLine } from './restored-text.ts'
import { readSavedToken } from './saved-session.ts'

/** In embedded mode, a key in the environment goes before the one that was made at the first start. */
function signerOfEnvironment(context: Context): Signer | null {
  const isGiven = isSet(context.environment, 'SIGNING_KEY')
  const key = readFrom(isGiven ? context.environment : attachedEnvironment(context), readPeople).signingKey
  return key && signerOf(key.signer)
}

/** The key of the person at this command line, from SIGNING_KEY. */
export function ownSigner(context: Context): Signer {
  const signer = signerOfEnvironment(context)
  if (signer !== null) return signer
  throw wrongUse(
    'no SIGNING_KEY is set, so it is not known who acts',
    'make a key with "bin/depositd people key NAME --out FILE", let an administrator add you, and set SIGNING_KEY_FILE to the file; for work on cases, "bin/depositd login" is enough',
  )
}

/**
 * Who acts at this command line, for work that is not signed: by their key, or as they logged in.
 * @throws Fault `usage_bad` unless they have this role
 */
export async function ownPerson(context: Context, db: Kysely<Tables>, role: PersonRole): Promise<string> {
  const token = readSavedToken(context.environment)
  if (token !== null && signerOfEnvironment(context) === null) {
    const { person, roles } = await loggedIn(context, db, token)
    if (roles.includes(role)) return person
    throw wrongUse(`${person} is no ${role}`, `let a person with the role ${role} do it`)
  }
  const signer = ownSigner(context)
  refuseSigner(await readRegister(db, pinnedKey(context)), signer, role)
  return signer.person
}

async function loggedIn(context: Context, db: Kysely<Tables>, token: string): Promise<SignedIn> {
  const person = await signedIn(sessionDeps(context, db), token)
  if (person !== null) return person
  throw wrongUse('the login of this command line has ended', 'use "bin/depositd login" again')
}

function sessionDeps(context: Context, db: Kysely<Tables>): SignInDeps {
  return { db, pinned: pinnedKey(context), origin: consoleOrigin(context) }
}

/** A person who takes data out of the database, or retries or drops webhooks, is in the audit log: by name if their key is of a person, otherwise by the login of the database. */
export async function recordAct(context: Context, db: Kysely<Tables>, taken: RecordedAct): Promise<void> {
  if (await isReadOnly(db)) {
    context.stderr.write('depositd: this database takes no writes, so the audit log has no entry of it\n')
    return
  }
  await recordAccess(db, { ...taken, person: await personOfKey(context, db) })
}

/** Null without a key and a login, or if the key is of no person. */
async function personOfKey(context: Context, db: Kysely<Tables>): Promise<string | null> {
  const signer = signerOfEnvironment(context)
  const token = readSavedToken(context.environment)
  if (signer === null) {
    if (token === null || !(await mayReadSessions(db))) return null
    return (await signedIn(sessionDeps(context, db), token))?.person ?? null
  }
  const known = (await readRegister(db, pinnedKey(context))).people.get(signer.person.toLowerCase())
  return known?.keys.includes(signer.key) === true ? known.person : null
}

/** The public key with which the register of people begins; null if the settings name none. */
export function pinnedKey(context: Context): string | null {
  return readFrom(attachedEnvironment(context), readPeople).administratorKey
}

/** Address of the console, as the browser reaches it. */
export function consoleOrigin(context: Context): string {
  const { links, ops } = readFrom(attachedEnvironment(context), (reader) => ({
    links: readLinks(reader),
    ops: readOps(reader),
  }))
  return originOfConsole(links, ops.port)
}

const now = () => new Date()

/** With the login for decisions, if the settings name one. */
export function withDecisions<Result>(
  context: Context,
  work: (deps: DecisionDeps & { db: Database<Tables> }) => Promise<Result>,
): Promise<Result> {
  const pinned = pinnedKey(context)
  const report = reportProgress(context)
  const procedures = decisionProcedures({
    settings: () => attachedSettings(context),
    pinned,
    now,
    report: (progress) => report(progressLine(progress)),
  })
  return withDatabase(asDecider(context), (db) => work({ db, procedures, pinned, now }), longQueryMs)
}

function asDecider(context: Context): Context {
  const environment = attachedEnvironment(context)
  const { databaseUrl } = readFrom(environment, readPeople)
  if (databaseUrl === null) return context
  return {
    ...context,
    environment: { ...environment, DATABASE_URL: databaseUrl, DATABASE_URL_FILE: undefined },
  }
}

/** Names that no signature proves: for the owner of the database, if keys are lost. */
export type UnsignedNames = { by: string; approvedBy: string | null }

/** @param text of `--break-glass`: one name, or two with a comma */
export function unsignedNames(text: string): UnsignedNames {
  const [by = '', second, ...more] = text.split(',').map((name) => name.trim())
  if (more.length > 0) throw wrongUse('--break-glass names more than two people', 'name one or two')
  return {
    by: nameOf('--break-glass', by),
    approvedBy: second === undefined ? null : nameOf('--break-glass', second),
  }
}
