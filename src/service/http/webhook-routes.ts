import { inTransaction } from '../../store/database.ts'
import {
  enableEndpoint,
  endEndpoint,
  endpointsMax,
  listEndpoints,
  lockEndpoint,
  registerEndpoint,
} from '../webhooks/endpoints.ts'
import { overlapDefaultSeconds } from '../webhooks/keep-endpoints.ts'
import { rotateSecret, signingSecrets } from '../webhooks/secrets.ts'
import { makeSecret, readSecret, type SigningKeyScheme } from '../webhooks/signing-key.ts'
import { isPrivateUrl, urlForm } from '../webhooks/webhook-url.ts'
import { refusal } from './problem.ts'
import { readPage } from './read-page.ts'
import { defineRoute } from './route.ts'
import { pageOf, pageQuery } from './schemas.ts'
import { webhookDeliveryRoutes } from './webhook-delivery-routes.ts'
import {
  find,
  idParameter,
  refuseConfigured,
  refuseDeleted,
  refuseUnknown,
  root,
  show,
} from './webhook-endpoint.ts'
import {
  endpointRequest,
  endpointSchema,
  endpointWithSecret,
  rotationRequest,
  showEndpoint,
} from './webhook-schemas.ts'

const createEndpoint = defineRoute({
  method: 'post',
  path: root,
  scope: 'write',
  summary: 'Register a webhook endpoint',
  origin: 'ours',
  body: endpointRequest,
  status: 201,
  answer: endpointWithSecret,
  refusals: ['fields_contradict', 'url_refused', 'url_taken', 'limit_reached'],
  run: async ({ db, webhooks }, { body }) => {
    const url = urlForm(body.url)
    if (!webhooks.allowPrivate && isPrivateUrl(url)) {
      throw refusal('url_refused', 'webhooks go to addresses of the public internet only')
    }
    const secret = secretOf(body, 'v1')
    const wanted = { url, types: body.types ?? null, secret, configured: false }
    const endpoint = await registerEndpoint({ db, vault: webhooks.vault }, wanted)
    if (endpoint === 'url_taken')
      throw refusal('url_taken', `${url} is registered; delete that endpoint first`)
    if (endpoint === 'too_many') throw refusal('limit_reached', `there are ${endpointsMax} webhook endpoints`)
    return { ...(await show(db, endpoint)), secret }
  },
})

const listAll = defineRoute({
  method: 'get',
  path: root,
  scope: 'read',
  summary: 'List the webhook endpoints, the newest first',
  origin: 'ours',
  query: pageQuery,
  status: 200,
  answer: pageOf(endpointSchema),
  refusals: ['cursor_invalid'],
  run: async ({ db }, { query }) => {
    const { page, next_cursor } = await readPage('endpoints', query, (reading) => listEndpoints(db, reading))
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
  origin: 'ours',
  parameters: idParameter,
  status: 200,
  answer: endpointSchema,
  refusals: ['not_found'],
  run: async ({ db }, { parameters }) => show(db, await find(db, parameters.id)),
})

/** What was deleted stays deleted, so the same call again has nothing left to do. */
const deleteEndpoint = defineRoute({
  method: 'delete',
  path: `${root}/{id}`,
  scope: 'write',
  summary: 'Delete a webhook endpoint',
  origin: 'ours',
  parameters: idParameter,
  status: 204,
  refusals: ['not_found', 'endpoint_configured'],
  run: async ({ db }, { parameters: { id } }) => {
    refuseConfigured(await find(db, id))
    await inTransaction(db, (tx) => endEndpoint(tx, id, { status: 'deleted' }))
    return undefined
  },
})

const disable = defineRoute({
  method: 'post',
  path: `${root}/{id}/disable`,
  scope: 'write',
  summary: 'Disable a webhook endpoint',
  origin: 'ours',
  parameters: idParameter,
  status: 200,
  answer: endpointSchema,
  refusals: ['not_found', 'endpoint_inactive'],
  run: async ({ db }, { parameters: { id } }) => {
    refuseDeleted(await find(db, id))
    const ending = { status: 'disabled', disabled_because: 'requested' } as const
    await inTransaction(db, (tx) => endEndpoint(tx, id, ending))
    return show(db, await find(db, id))
  },
})

const enable = defineRoute({
  method: 'post',
  path: `${root}/{id}/enable`,
  scope: 'write',
  summary: 'Enable a webhook endpoint',
  origin: 'ours',
  parameters: idParameter,
  status: 200,
  answer: endpointSchema,
  refusals: ['not_found', 'endpoint_inactive'],
  run: async ({ db }, { parameters: { id } }) => {
    refuseDeleted(await find(db, id))
    await enableEndpoint(db, id)
    return show(db, await find(db, id))
  },
})

const rotate = defineRoute({
  method: 'post',
  path: `${root}/{id}/rotate-secret`,
  scope: 'write',
  summary: 'Rotate the secret of a webhook endpoint',
  origin: 'ours',
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
      const locked = (await lockEndpoint(tx, id)) ?? refuseUnknown(id)
      refuseDeleted(locked)
      refuseConfigured(locked)
      const overlapSeconds = body.overlap_seconds ?? overlapDefaultSeconds
      await rotateSecret(tx, webhooks.vault, { endpointId: id, secret, at, overlapSeconds })
      return locked
    })
    return { ...(await show(db, endpoint)), secret }
  },
})

export const webhookRoutes = [
  createEndpoint,
  listAll,
  getOne,
  deleteEndpoint,
  disable,
  enable,
  rotate,
  ...webhookDeliveryRoutes,
]

function secretOf(
  request: { secret?: string | undefined; scheme?: SigningKeyScheme | undefined },
  usual: SigningKeyScheme,
): string {
  const { secret, scheme } = request
  if (secret === undefined) return makeSecret(scheme ?? usual)
  const own = readSecret(secret)?.scheme
  if (scheme !== undefined && own !== scheme) {
    throw refusal('fields_contradict', `scheme is ${scheme}, but the secret is one of ${String(own)}`)
  }
  return secret
}
