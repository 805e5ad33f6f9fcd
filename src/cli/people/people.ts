import {
  type DecisionDeps,
  readRegister,
  refuseRequester,
  requestDecision,
} from '../../jobs/people/decide.ts'
import { codeOf, invite } from '../../jobs/people/sign-in.ts'
import { makeSigningKey, verifierKeyText } from '../../ledger/checkpoint.ts'
import { type Person, personNameForm, type Signer } from '../../people/decision.ts'
import { type PersonRole, personRoles } from '../../people/roles.ts'
import {
  type AuditLine,
  deleteInvitation,
  endSessionsOf,
  listAudit,
  readInvitation,
  recordAccess,
} from '../../store/sessions.ts'
import { isAgreed } from '../ask.ts'
import { type Context, withDatabase } from '../context.ts'
import { writeSecret } from '../files.ts'
import { type ListKeyset, type ListOptions, pageOf, printList, readPage } from '../lists.ts'
import { badValue, choiceOf, notFound, wrongUse } from '../options.ts'
import { print, type TableColumn } from '../print.ts'
import { consoleOrigin, ownSigner, pinnedKey, withDecisions } from './signing.ts'

/** Makes the key of a person, on their own machine. */
export function createPersonKeyCommand(context: Context, name: string, { out }: { out: string }): void {
  const { text, signer } = makeSigningKey(personName(name), 'log')
  writeSecret(out, `${text}\n`)
  const key = verifierKeyText(signer)
  const next = `give an administrator the public key:\n${key}\n`
  print(context, { file: out, key }, `${out}: keep it secret, and set SIGNING_KEY_FILE to it; ${next}`)
}

function personName(text: string): string {
  if (personNameForm.test(text)) return text
  throw badValue('the name', text, 'use letters, digits, ".", "_", "@" and "-", at most 100 of them')
}

type PersonOptions = { roles: string; key?: string[] }

/** Without `--key`, a person keeps their keys; the first administrator has the key that signs. */
export async function addPersonCommand(
  context: Context,
  name: string,
  { roles, key }: PersonOptions,
): Promise<void> {
  const person = personName(name)
  const chosen = rolesOf({ roles })
  const signer = ownSigner(context)
  await withDecisions(context, async (deps) => {
    const register = await readRegister(deps.db, deps.pinned)
    const kept = register.people.get(person.toLowerCase())?.keys ?? []
    const keys = key ?? (register.firstKey === null ? [signer.key] : [...kept])
    if (keys.length === 0)
      throw wrongUse(
        `${person} has no key`,
        'give the public key that "bin/depositd people key" printed, with --key',
      )
    await decidePerson({ context, deps, signer }, { person, roles: chosen, keys })
  })
}

type InviteOptions = { roles?: string; admin?: boolean; again?: boolean; yes?: boolean }

/**
 * The first call makes a link, with which the person makes a passkey. The next one shows the code of the passkey, and
 * signs that it belongs to the person.
 */
export async function invitePersonCommand(
  context: Context,
  name: string,
  options: InviteOptions,
): Promise<void> {
  const person = personName(name)
  if (options.admin === true) return inviteFirst(context, person, options)
  const signer = ownSigner(context)
  await withDecisions(context, async (deps) => {
    await refuseRequester(deps, signer, 'person')
    const known = (await readRegister(deps.db, deps.pinned)).people.get(person.toLowerCase())
    const invited = options.again === true ? null : await readInvitation(deps.db, { person })
    if (invited === null)
      return makeInvitation(context, deps, {
        person,
        roles: rolesOf(options, known?.roles),
        by: signer.person,
      })
    const { passkey, roles } = invited
    if (passkey === null)
      throw wrongUse(
        `${person} has not made a passkey yet`,
        'wait for their code, or make another link with --again',
      )
    const question = `${person} sees a code in the browser. Is it ${codeOf(passkey)}?`
    if (!(await isAgreed(context, question, options)))
      throw wrongUse('the passkey was not confirmed', 'make another link with --again if it is not theirs')
    await decidePerson(
      { context, deps, signer },
      { person, roles: [...roles], keys: [...(known?.keys ?? []), passkey] },
    )
    await deleteInvitation(deps.db, person)
  })
}

/** Needs no key, but the login for decisions, and that there are no people. */
async function inviteFirst(context: Context, person: string, options: InviteOptions): Promise<void> {
  const roles = new Set<PersonRole>([
    'administrator',
    ...(options.roles === undefined ? [] : rolesOf(options)),
  ])
  await withDecisions(context, async ({ db, pinned }) => {
    if ((await readRegister(db, pinned)).firstKey !== null)
      throw wrongUse('there is an administrator already', 'let them invite others, without --admin')
    const link = await invite(db, { person, roles: [...roles], by: null })
    const url = `${consoleOrigin(context)}/invitations/${link}`
    const next =
      'with it, they make a passkey and sign their own entry; the page then shows ADMINISTRATOR_KEY for the settings'
    print(
      context,
      { person, roles: [...roles], link: url },
      `give ${person} this link, which ends in a day:\n${url}\n${next}\n`,
    )
  })
}

async function makeInvitation(
  context: Context,
  { db }: DecisionDeps,
  { person, roles, by }: { person: string; roles: PersonRole[]; by: string },
): Promise<void> {
  const link = `${consoleOrigin(context)}/invitations/${await invite(db, { person, roles, by })}`
  const next = `bin/depositd people invite ${person}`
  print(
    context,
    { person, roles, link },
    `give ${person} this link, which ends in a day:\n${link}\nthey read a code to you; then confirm it with\n${next}\n`,
  )
}

function rolesOf({ roles }: InviteOptions, known: readonly PersonRole[] = []): PersonRole[] {
  if (roles !== undefined)
    return roles.split(',').map((role) => choiceOf('--roles', role.trim(), personRoles))
  if (known.length > 0) return [...known]
  throw wrongUse('a new person needs --roles', `separate them by commas: ${personRoles.join(', ')}`)
}

/** Also if a browser was stolen. */
export async function signOutCommand(context: Context, name: string): Promise<void> {
  const by = ownSigner(context).person
  const ended = await withDatabase(context, async (db) => {
    await recordAccess(db, { person: name, action: 'sessions_ended', detail: by })
    return endSessionsOf(db, name)
  })
  print(context, { person: name, ended }, `${ended} sessions of ${name} are ended\n`)
}

/** Sign-ins, data that was taken out, decisions, work on cases, changes of the rules. */
export async function listLogCommand(
  context: Context,
  { person, action, ...options }: ListOptions & { person?: string; action?: string },
): Promise<void> {
  const page = await withDatabase(context, (db) =>
    readPage(options, logPaging, ({ limit, after }) =>
      listAudit(db, { person: person ?? null, action: action ?? null, after: after?.[0] ?? null, limit }),
    ),
  )
  printList(context, page, { columns: logColumns, empty: 'no entries' })
}

const logPaging: ListKeyset<AuditLine> = { list: 'audit log', keyOf: ({ entry }) => [entry] }

const logColumns: TableColumn<AuditLine>[] = [
  { title: 'AT', value: ({ at }) => at.toISOString() },
  { title: 'PERSON', value: ({ person, login }) => person ?? (login === null ? '' : `login ${login}`) },
  { title: 'DID', value: ({ action }) => action },
  { title: 'ABOUT', value: ({ detail }) => detail ?? '' },
]

export async function removePersonCommand(context: Context, name: string): Promise<void> {
  const signer = ownSigner(context)
  await withDecisions(context, async (deps) => {
    const { people } = await readRegister(deps.db, deps.pinned)
    const person = people.get(name.toLowerCase())?.person
    if (person === undefined) throw notFound(name, 'use a name from "bin/depositd people list"')
    await decidePerson({ context, deps, signer }, { person, roles: [], keys: [] })
  })
}

type PersonDecision = { context: Context; deps: DecisionDeps; signer: Signer }

async function decidePerson({ context, deps, signer }: PersonDecision, person: Person): Promise<void> {
  const { id } = await requestDecision(deps, { kind: 'person', change: person }, signer)
  const did =
    person.roles.length === 0
      ? `${person.person} is removed`
      : `${person.person} is ${person.roles.join(', ')}`
  print(context, { decision: id, ...person }, `${did}, by decision ${id} of ${signer.person}\n`)
}

type PersonLine = { name: string; roles: readonly PersonRole[]; keys: readonly string[] }

const paging: ListKeyset<PersonLine> = { list: 'people', keyOf: ({ name }) => [name] }

export async function listPeopleCommand(context: Context, options: ListOptions): Promise<void> {
  const { people } = await withDatabase(context, (db) => readRegister(db, pinnedKey(context)))
  const rows = [...people.values()].map(
    ({ person: name, roles, keys }): PersonLine => ({ name, roles, keys }),
  )
  const empty =
    'no people: add the first administrator with "bin/depositd people add NAME --roles administrator"'
  printList(context, pageOf(rows, options, paging), { columns, empty })
}

const columns: TableColumn<PersonLine>[] = [
  { title: 'NAME', value: ({ name }) => name },
  { title: 'ROLES', value: ({ roles }) => roles.join(', ') },
  { title: 'KEYS', value: ({ keys }) => keys.join(', ') },
]
