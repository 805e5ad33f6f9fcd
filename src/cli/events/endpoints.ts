import { eventsVault } from '../../app/events.ts'
import type { EventPayload } from '../../core/event.ts'
import {
  changeEndpoint,
  type EndpointDeps,
  makeEndpoint,
  rotateSecret,
  testEndpoint,
} from '../../jobs/events/endpoints.ts'
import type { SignatureName } from '../../outbox/signing-key.ts'
import { attemptColumns, attemptResult, endpointColumns } from '../../presentation/events.ts'
import { type EndpointAct, type EndpointChange } from '../../store/change-endpoints.ts'
import { listAttempts } from '../../store/event-deliveries.ts'
import {
  type EventEndpoint,
  listEventEndpoints,
  namedEndpoint,
  type WrittenContent,
} from '../../store/event-endpoints.ts'
import { attachedSettings, type Context, withDatabase } from '../context.ts'
import { type ListKeyset, type ListOptions, printList, readPage } from '../lists.ts'
import { wrongUse } from '../options.ts'
import { ownPerson } from '../people/signing.ts'
import { type News, print, table } from '../print.ts'

type FilterOptions = { types?: string; services?: string; owners?: string }

type CreateEndpointOptions = FilterOptions & { url: string; payload: EventPayload; signature: SignatureName }

/** The secret alone goes to standard output, for use in a shell; with ed25519, the public key. */
export async function createEndpointCommand(
  context: Context,
  name: string,
  options: CreateEndpointOptions,
): Promise<void> {
  const { url, payload, signature } = options
  const filters = { types: null, services: null, owners: null, ...filtersIn(options) }
  const made = await asAdministrator(context, name, (deps, act) =>
    makeEndpoint(deps, { ...act, url, payload, signature, ...filters }),
  )
  context.stderr.write(`endpoint ${name} receives events from now on; ${shownOnce(made.verifyWith)}\n`)
  print(context, { ...made.endpoint, verifyWith: made.verifyWith }, `${made.verifyWith}\n`)
}

type EndpointWork<Value> = (deps: EndpointDeps, act: EndpointAct) => Promise<Value>

function asAdministrator<Value>(context: Context, name: string, work: EndpointWork<Value>): Promise<Value> {
  const settings = attachedSettings(context)
  return withDatabase(context, async (db) => {
    const by = await ownPerson(context, db, 'administrator')
    const vault = eventsVault(settings)
    const services = settings.services.map((service) => service.name)
    return work({ db, vault, services, allowPrivate: settings.events.allowPrivate }, { name, by })
  })
}

/** Those that are given; `all` is null. */
function filtersIn(options: FilterOptions): Partial<Pick<WrittenContent, 'types' | 'services' | 'owners'>> {
  const { types, services, owners } = options
  return {
    ...(types !== undefined && { types: listIn(types) }),
    ...(services !== undefined && { services: listIn(services) }),
    ...(owners !== undefined && { owners: listIn(owners) }),
  }
}

function listIn(text: string): string[] | null {
  return text === 'all' ? null : [...new Set(text.split(',').map((word) => word.trim()))]
}

function shownOnce(verifyWith: string): string {
  return verifyWith.startsWith('whsec_') ? 'the secret is shown only once' : 'verify with this public key'
}

const paging: ListKeyset<EventEndpoint> = { list: 'event endpoints', keyOf: ({ name }) => [name] }

export async function listEndpointsCommand(context: Context, options: ListOptions): Promise<void> {
  const page = await withDatabase(context, (db) =>
    readPage(options, paging, ({ limit, after }) => listEventEndpoints(db, { limit, after: after?.[0] })),
  )
  printList(context, page, { columns: endpointColumns, empty: 'no endpoints yet' })
}

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
  const tried = attempts.length === 0 ? 'no attempts yet\n' : table(attempts, attemptColumns)
  print(
    context,
    { ...endpoint, attempts },
    `${table([endpoint], endpointColumns)}${secrets.join('')}\n${tried}`,
  )
}

export async function testEndpointCommand(context: Context, name: string): Promise<News> {
  const result = await asAdministrator(context, name, testEndpoint)
  print(context, result, `test event ${result.eventId}: ${attemptResult(result)}, ${result.durationMs} ms\n`)
  const { status } = result
  return status !== null && status >= 200 && status < 300 ? 'good' : 'bad'
}

function change(context: Context, name: string, made: EndpointChange): Promise<EventEndpoint> {
  return asAdministrator(context, name, (deps, act) => changeEndpoint(deps, act, made))
}

export async function editEndpointCommand(
  context: Context,
  name: string,
  { url, payload, ...filters }: Partial<CreateEndpointOptions>,
): Promise<void> {
  const content = { ...(url !== undefined && { url }), ...(payload && { payload }), ...filtersIn(filters) }
  if (Object.keys(content).length === 0)
    throw wrongUse('nothing is changed', 'give --url, --payload, --types, --services or --owners')
  const endpoint = await change(context, name, { action: 'edit', ...content })
  print(context, endpoint, table([endpoint], endpointColumns))
}

export async function pauseEndpointCommand(context: Context, name: string): Promise<void> {
  print(context, await change(context, name, { action: 'pause' }), `endpoint ${name} is paused\n`)
}

export async function resumeEndpointCommand(context: Context, name: string): Promise<void> {
  const endpoint = await change(context, name, { action: 'resume' })
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
  const endpoint = await change(context, name, { action: 'replay', from: start })
  print(context, endpoint, `endpoint ${name}: next is event ${endpoint.delivered + 1n}\n`)
}

export async function rotateEndpointCommand(
  context: Context,
  name: string,
  { signature, overlap: overlapMs }: { signature: SignatureName; overlap: number },
): Promise<void> {
  const { endpoint, endsAt, verifyWith } = await asAdministrator(context, name, (deps, act) =>
    rotateSecret(deps, act, { signature, overlapMs }),
  )
  const until = `the secret before signs too until ${endsAt.toISOString()}`
  context.stderr.write(`endpoint ${name} has a new secret; ${until}; ${shownOnce(verifyWith)}\n`)
  print(context, { ...endpoint, verifyWith }, `${verifyWith}\n`)
}

export async function removeEndpointCommand(context: Context, name: string): Promise<void> {
  print(context, await change(context, name, { action: 'remove' }), `endpoint ${name} is removed\n`)
}
