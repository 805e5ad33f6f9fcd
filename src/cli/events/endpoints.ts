import type { Transaction } from 'kysely'
import { eventsVault, eventTimeoutMs } from '../../app/events.ts'
import type { EventPayload } from '../../core/event-payload.ts'
import { sendTest } from '../../jobs/events/event-request.ts'
import { keyMissing } from '../../jobs/events/send-events.ts'
import { openPoster } from '../../outbox/post-webhook.ts'
import type { SecretVault } from '../../outbox/secret-vault.ts'
import { makeSecret, readSecret, schemesByName } from '../../outbox/signing-key.ts'
import { canonicalUrl, findUrlFault, isPrivateUrl } from '../../outbox/webhook-url.ts'
import { type Database, inTransaction } from '../../store/database.ts'
import { type AttemptLine, listAttempts } from '../../store/event-deliveries.ts'
import {
  createEventEndpoint,
  type EventEndpoint,
  endpointNameForm,
  listEventEndpoints,
  namedEndpoint,
  pauseEndpoint,
  removeEndpoint,
  replayEndpoint,
  resumeEndpoint,
  rotateEndpoint,
} from '../../store/event-endpoints.ts'
import { eventTypes } from '../../store/events.ts'
import { recordAccess } from '../../store/sessions.ts'
import type { Tables } from '../../store/tables.ts'
import { attachedSettings, type Context, withDatabase } from '../context.ts'
import { checkFilters } from '../filters.ts'
import { type ListKeyset, type ListOptions, printList, readPage } from '../lists.ts'
import { badValue, choiceOf, wrongUse } from '../options.ts'
import { ownPerson } from '../people/signing.ts'
import { type News, print, type TableColumn, table } from '../print.ts'

type SignatureName = keyof typeof schemesByName

type CreateEndpointOptions = {
  url: string
  payload: EventPayload
  types?: string
  services?: string
  owners?: string
  signature: SignatureName
}

/** The secret alone goes to standard output, for use in a shell; with ed25519, the public key. */
export async function createEndpointCommand(
  context: Context,
  name: string,
  options: CreateEndpointOptions,
): Promise<void> {
  if (!endpointNameForm.test(name))
    throw badValue('the name', name, 'use lower-case letters, digits, ".", "_" and "-", at most 63 of them')
  const vault = vaultOf(context)
  const url = urlOf(context, options.url)
  const types = listIn(options.types)?.map((word) => choiceOf('--types', word, eventTypes)) ?? null
  const [services, owners] = [listIn(options.services), listIn(options.owners)]
  const secret = makeSecret(schemesByName[options.signature])
  const { payload } = options
  const created = await withDatabase(context, async (db) => {
    const by = await ownPerson(context, db, 'administrator')
    for (const service of services ?? []) await checkFilters(context, db, { service })
    for (const owner of owners ?? []) await checkFilters(context, db, { owner })
    const endpoint = { name, url, payload, types, services, owners, secret, by }
    return inTransaction(db, (tx) => createEventEndpoint(tx, vault, endpoint))
  })
  context.stderr.write(`endpoint ${name} receives events from now on; ${shownOnce(secret)}\n`)
  const key = verifierOf(secret)
  print(context, { ...created, verifyWith: key }, `${key}\n`)
}

function vaultOf(context: Context): SecretVault {
  const vault = eventsVault(attachedSettings(context))
  if (vault === null) throw keyMissing()
  return vault
}

function urlOf(context: Context, text: string): string {
  const fault = findUrlFault(text)
  if (fault !== null) throw wrongUse(`--url ${fault}`, 'give an address like https://shop.example/events')
  const { allowPrivate } = attachedSettings(context).events
  if (!allowPrivate && isPrivateUrl(text))
    throw badValue('--url', text, 'use a public address, or set events.allowPrivate: true')
  return canonicalUrl(text)
}

function listIn(text: string | undefined): string[] | null {
  return text === undefined ? null : [...new Set(text.split(',').map((word) => word.trim()))]
}

/** What the receiver verifies with: the secret, or the public key, which is all that it needs. */
function verifierOf(secret: string): string {
  return readSecret(secret)?.publicKey ?? secret
}

function shownOnce(secret: string): string {
  return verifierOf(secret) === secret ? 'the secret is shown only once' : 'verify with this public key'
}

const paging: ListKeyset<EventEndpoint> = { list: 'event endpoints', keyOf: ({ name }) => [name] }

export async function listEndpointsCommand(context: Context, options: ListOptions): Promise<void> {
  const page = await withDatabase(context, (db) =>
    readPage(options, paging, ({ limit, after }) => listEventEndpoints(db, { limit, after: after?.[0] })),
  )
  printList(context, page, { columns, empty: 'no endpoints yet' })
}

const all = (words: readonly string[] | null) => words?.join(', ') ?? 'all'
const stateOf = ({ state, reason }: EventEndpoint) => (reason === null ? state : `${state}: ${reason}`)

const columns: TableColumn<EventEndpoint>[] = [
  { title: 'NAME', value: ({ name }) => name },
  { title: 'URL', value: ({ url }) => url },
  { title: 'STATE', value: stateOf },
  { title: 'DELIVERED', value: ({ delivered }) => `${delivered}`, align: 'right' },
  { title: 'WAITING', value: ({ waiting }) => `${waiting}`, align: 'right' },
  { title: 'PAYLOAD', value: ({ payload }) => payload },
  { title: 'TYPES', value: ({ types }) => all(types) },
  { title: 'SERVICES', value: ({ services }) => all(services) },
  { title: 'OWNERS', value: ({ owners }) => all(owners) },
]

const attemptsShown = 20

export async function showEndpointCommand(context: Context, name: string): Promise<void> {
  const { endpoint, attempts } = await withDatabase(context, async (db) => {
    const found = await namedEndpoint(db, name)
    return { endpoint: found, attempts: await listAttempts(db, found.id, { limit: attemptsShown }) }
  })
  const secrets = endpoint.secrets.map(
    ({ version, scheme, public_key: key, expires_at: ends }) =>
      `secret ${version}: ${scheme}${key === null ? '' : ` ${key}`}${ends === null ? '' : `, until ${ends.toISOString()}`}\n`,
  )
  const failing = endpoint.failing_since
  const since = failing === null ? '' : `failing since ${failing.toISOString()}\n`
  const tried = attempts.length === 0 ? 'no attempts yet\n' : table(attempts, attemptColumns)
  print(
    context,
    { ...endpoint, attempts },
    `${table([endpoint], columns)}${since}${secrets.join('')}\n${tried}`,
  )
}

const resultOf = ({ status, problem }: Pick<AttemptLine, 'status' | 'problem'>) => problem ?? `${status}`

const attemptColumns: TableColumn<AttemptLine>[] = [
  { title: 'AT', value: ({ at }) => at.toISOString() },
  { title: 'SEQUENCE', value: ({ sequence }) => `${sequence ?? 'test'}`, align: 'right' },
  { title: 'RESULT', value: resultOf },
  { title: 'MS', value: ({ durationMs }) => `${durationMs}`, align: 'right' },
]

export async function testEndpointCommand(context: Context, name: string): Promise<News> {
  const vault = vaultOf(context)
  const poster = openPoster({ ...attachedSettings(context).events, timeoutMs: eventTimeoutMs })
  const result = await withDatabase(context, async (db) => {
    const person = await ownPerson(context, db, 'administrator')
    const sent = await sendTest({ db, vault, poster, now: () => new Date() }, name)
    await recordAccess(db, { person, action: 'endpoint_changed', detail: `${name}: test event sent` })
    return sent
  }).finally(() => poster.close())
  print(context, result, `test event ${result.eventId}: ${resultOf(result)}, ${result.durationMs} ms\n`)
  const { status } = result
  return status !== null && status >= 200 && status < 300 ? 'good' : 'bad'
}

type EndpointChange = (tx: Transaction<Tables>, act: { name: string; by: string }) => Promise<unknown>

/** As an administrator, in the audit log. */
async function change(context: Context, name: string, make: EndpointChange): Promise<EventEndpoint> {
  const changed = async (db: Database<Tables>) => {
    const by = await ownPerson(context, db, 'administrator')
    return inTransaction(db, async (tx) => {
      await make(tx, { name, by })
      return namedEndpoint(tx, name)
    })
  }
  return withDatabase(context, changed)
}

export async function pauseEndpointCommand(context: Context, name: string): Promise<void> {
  print(context, await change(context, name, pauseEndpoint), `endpoint ${name} is paused\n`)
}

export async function resumeEndpointCommand(context: Context, name: string): Promise<void> {
  const endpoint = await change(context, name, resumeEndpoint)
  print(context, endpoint, `endpoint ${name} is active; next is event ${endpoint.delivered + 1n}\n`)
}

export async function replayEndpointCommand(
  context: Context,
  name: string,
  { from, since }: { from?: number; since?: Date },
): Promise<void> {
  if ((from === undefined) === (since === undefined))
    throw wrongUse('a replay begins at one place', 'give --from or --since, and not both')
  const start = since === undefined ? { sequence: BigInt(from ?? 1) } : { since }
  const endpoint = await change(context, name, (tx, act) => replayEndpoint(tx, { ...act, from: start }))
  print(context, endpoint, `endpoint ${name}: next is event ${endpoint.delivered + 1n}\n`)
}

export async function rotateEndpointCommand(
  context: Context,
  name: string,
  { signature, overlap }: { signature: SignatureName; overlap: number },
): Promise<void> {
  const vault = vaultOf(context)
  const secret = makeSecret(schemesByName[signature])
  const endsAt = new Date(Date.now() + overlap)
  const endpoint = await change(context, name, (tx, act) =>
    rotateEndpoint(tx, vault, { ...act, secret, endsAt }),
  )
  const until = `the secret before signs too until ${endsAt.toISOString()}`
  context.stderr.write(`endpoint ${name} has a new secret; ${until}; ${shownOnce(secret)}\n`)
  const key = verifierOf(secret)
  print(context, { ...endpoint, verifyWith: key }, `${key}\n`)
}

export async function removeEndpointCommand(context: Context, name: string): Promise<void> {
  const removed = await withDatabase(context, async (db) => {
    const by = await ownPerson(context, db, 'administrator')
    return inTransaction(db, async (tx) => {
      const endpoint = await namedEndpoint(tx, name)
      await removeEndpoint(tx, { name, by })
      return endpoint
    })
  })
  print(context, removed, `endpoint ${name} is removed\n`)
}
