import { z } from 'zod'
import { pageOf, pageQuery } from '../../http/pages.ts'
import { makeSecret, readSecret, type SigningKeyScheme } from '../../outbox/signing-key.ts'
import { canonicalUrl, isPrivateUrl } from '../../outbox/webhook-url.ts'
import { inTransaction } from '../../store/database.ts'
import type { EndpointRow } from '../tables.ts'
import {
  enableEndpoint,
  endEndpoint,
  endpointsMax,
  findEndpoint,
  listEndpoints,
  lockEndpoint,
  overlapDefaultSeconds,
  registerEndpoint,
} from '../webhooks/endpoints.ts'
import { rotateSecret, signingSecrets } from '../webhooks/secrets.ts'
import { readPage } from './pages.ts'
import { notFound, refusal } from './problem.ts'
import { type Api, defineRoute, ours } from './route.ts'
import {
  endpointRequest,
  endpointSchema,
  endpointWithSecret,
  rotationRequest,
  showEndpoint,
} from './webhook-schemas.ts'

const root = '/v1/webhook-endpoints'
const idParameter = z.strictObject({ id: z.string().max(64) })

/** Also deleted ones: their history is kept. */
export async function requireEndpoint(db: Api['db'], id: string): Promise<EndpointRow> {
  const endpoint = await findEndpoint(db, id)
  if (endpoint === undefined) throw notFound('webhook endpoint', id)
  return endpoint
}

function refuseDeleted({ id, status }: EndpointRow): void {
  if (status === 'deleted') throw refusal('endpoint_inactive', `${id} was deleted; register its URL again`)
}

function refuseConfigured({ id, configured }: EndpointRow): void {
  if (configured)
    throw refusal('endpoint_configured', `${id} comes from the settings of the service; change it there`)
}

async function show(db: Api['db'], endpoint: EndpointRow): Promise<z.output<typeof endpointSchema>> {
  return showEndpoint(endpoint, await signingSecrets(db, [endpoint.id], new Date()))
}

const createEndpoint = defineRoute({
  method: 'post',
  path: root,
  scope: 'write',
  summary: 'Register a webhook endpoint',
  description: ours,
  body: endpointRequest,
  status: 201,
  answer: endpointWithSecret,
  refusals: ['fields_contradict', 'url_refused', 'url_taken', 'limit_reached'],
  run: async ({ db, webhooks }, { body }) => {
    const url = canonicalUrl(body.url)
    if (!webhooks.allowPrivate && isPrivateUrl(url)) {
      throw refusal('url_refused', `${url} is not a public address`)
    }
    const secret = secretOf(body, 'v1')
    const requested = { url, types: body.types ?? null, secret, configured: false }
    const endpoint = await registerEndpoint({ db, vault: webhooks.vault }, requested)
    if (endpoint === 'url_taken')
      throw refusal('url_taken', `${url} is already registered; delete that endpoint first`)
    if (endpoint === 'too_many')
      throw refusal(
        'limit_reached',
        `the limit of ${endpointsMax} webhook endpoints is reached; delete one first`,
      )
    return { ...(await show(db, endpoint)), secret }
  },
})

const listAll = defineRoute({
  method: 'get',
  path: root,
  scope: 'read',
  summary: 'List the webhook endpoints, the newest first',
  description: ours,
  query: pageQuery,
  status: 200,
  answer: pageOf(endpointSchema),
  refusals: ['cursor_invalid'],
  run: async ({ db }, { query }) => {
    const { page, next_cursor } = await readPage('endpoints', query, (range) => listEndpoints(db, range))
    const ids = page.map(({ id }) => id)
    const secrets = await signingSecrets(db, ids, new Date())
    return { data: page.map((endpoint) => showEndpoint(endpoint, secrets)), next_cursor }
  },
})

const getOne = defineRoute({
  method: 'get',
  path: `${root}/{id}`,
  scope: 'read',
  summary: 'Retrieve a webhook endpoint',
  description: ours,
  parameters: idParameter,
  status: 200,
  answer: endpointSchema,
  refusals: ['not_found'],
  run: async ({ db }, { parameters }) => show(db, await requireEndpoint(db, parameters.id)),
})

/** Idempotent. */
const deleteEndpoint = defineRoute({
  method: 'delete',
  path: `${root}/{id}`,
  scope: 'write',
  summary: 'Delete a webhook endpoint',
  description: ours,
  parameters: idParameter,
  status: 204,
  refusals: ['not_found', 'endpoint_configured'],
  run: async ({ db }, { parameters: { id } }) => {
    refuseConfigured(await requireEndpoint(db, id))
    await inTransaction(db, (tx) => endEndpoint(tx, id, { status: 'deleted' }))
    return undefined
  },
})

const disable = defineRoute({
  method: 'post',
  path: `${root}/{id}/disable`,
  scope: 'write',
  summary: 'Disable a webhook endpoint',
  description: ours,
  parameters: idParameter,
  status: 200,
  answer: endpointSchema,
  refusals: ['not_found', 'endpoint_inactive'],
  run: async ({ db }, { parameters: { id } }) => {
    refuseDeleted(await requireEndpoint(db, id))
    const ending = { status: 'disabled', disabled_because: 'requested' } as const
    await inTransaction(db, (tx) => endEndpoint(tx, id, ending))
    return show(db, await requireEndpoint(db, id))
  },
})

const enable = defineRoute({
  method: 'post',
  path: `${root}/{id}/enable`,
  scope: 'write',
  summary: 'Enable a webhook endpoint',
  description: ours,
  parameters: idParameter,
  status: 200,
  answer: endpointSchema,
  refusals: ['not_found', 'endpoint_inactive'],
  run: async ({ db }, { parameters: { id } }) => {
    refuseDeleted(await requireEndpoint(db, id))
    await enableEndpoint(db, id)
    return show(db, await requireEndpoint(db, id))
  },
})

const rotate = defineRoute({
  method: 'post',
  path: `${root}/{id}/rotate-secret`,
  scope: 'write',
  summary: 'Rotate the secret of a webhook endpoint',
  description: ours,
  parameters: idParameter,
  body: rotationRequest.prefault({}),
  status: 200,
  answer: endpointWithSecret,
  refusals: ['not_found', 'fields_contradict', 'endpoint_inactive', 'endpoint_configured'],
  run: async ({ db, webhooks }, { parameters: { id }, body }) => {
    const at = new Date()
    const [newest] = await signingSecrets(db, [id], at)
    const secret = secretOf(body, newest?.scheme ?? 'v1')
    const endpoint = await inTransaction(db, async (tx) => {
      const locked = await lockEndpoint(tx, id)
      if (locked === undefined) throw notFound('webhook endpoint', id)
      refuseDeleted(locked)
      refuseConfigured(locked)
      const overlapSeconds = body.overlap_seconds ?? overlapDefaultSeconds
      await rotateSecret(tx, webhooks.vault, { endpointId: id, secret, at, overlapSeconds })
      return locked
    })
    return { ...(await show(db, endpoint)), secret }
  },
})

export const webhookRoutes = [createEndpoint, listAll, getOne, deleteEndpoint, disable, enable, rotate]

function secretOf(
  request: { secret?: string | undefined; scheme?: SigningKeyScheme | undefined },
  defaultScheme: SigningKeyScheme,
): string {
  const { secret, scheme } = request
  if (secret === undefined) return makeSecret(scheme ?? defaultScheme)
  const own = readSecret(secret)?.scheme
  if (scheme !== undefined && own !== scheme) {
    throw refusal('fields_contradict', `scheme is ${scheme}, but the secret is for ${String(own)}`)
  }
  return secret
}
