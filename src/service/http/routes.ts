import { z } from 'zod'
import type { NetworkSettings } from '../../chain/types.ts'
import type { Address } from '../../core/asset.ts'
import { assert } from '../../core/errors.ts'
import { stableAsset } from '../catalog.ts'
import { recordWriter } from '../deposits/record.ts'
import { refundDeposit } from '../deposits/refund-deposit.ts'
import { releaseDeposit } from '../deposits/release-deposit.ts'
import { depositAddresses, findOwner, listOwners } from '../owners.ts'
import type { DepositStatus, ServiceOwnerRow } from '../tables.ts'
import { walletBalance } from '../transfers/withdrawals.ts'
import { listDeliveries } from '../webhooks/deliveries.ts'
import { findEndpoint } from '../webhooks/endpoints.ts'
import { type EventRow, findEvent, listEvents, resendEvent, testType } from '../webhooks/events.ts'
import { depositEvents } from '../webhooks/outbox.ts'
import { channelRoutes } from './channel-routes.ts'
import { depositRoutes } from './deposit-routes.ts'
import { depositRecord } from './deposit-schema.ts'
import { depositId, findDeposit, noDeposit } from './find-deposit.ts'
import { describeApi } from './openapi.ts'
import { policyRoutes } from './policy-routes.ts'
import { refusal } from './problem.ts'
import { readPage } from './read-page.ts'
import { type Api, type ApiRoute, defineRoute } from './route.ts'
import { baseUnits, depositAddressSchema, idText, pageOf, pageQuery } from './schemas.ts'
import { readNetwork, readRecipient, refuseOwnAddress } from './stated.ts'
import { webhookRoutes } from './webhook-routes.ts'
import { deliverySchema, eventSchema, showDelivery, showEvent } from './webhook-schemas.ts'
import { withdrawalRoutes } from './withdrawal-routes.ts'

const idParameter = z.strictObject({ id: z.string().max(64) })

/** More than the maximum number of endpoints. */
const deliveriesShown = 100

const eventsQuery = pageQuery.extend({
  type: z.enum([...depositEvents, testType]).optional(),
  deposit: z.string().max(64).optional(),
})

/** Newest first. A cursor names the last event read, so new events do not shift later pages. */
const list = defineRoute({
  method: 'get',
  path: '/v1/events',
  scope: 'read',
  summary: 'List events, the newest first',
  origin: 'ours',
  query: eventsQuery,
  status: 200,
  answer: pageOf(eventSchema),
  refusals: ['cursor_invalid'],
  run: async ({ db }, { query }) => {
    const filter = { type: query.type, deposit: query.deposit }
    const { page, next_cursor } = await readPage('events', query, (reading) =>
      listEvents(db, filter, reading),
    )
    return { data: page.map(showEvent), next_cursor }
  },
})

const getOne = defineRoute({
  method: 'get',
  path: '/v1/events/{id}',
  scope: 'read',
  summary: 'Retrieve an event and its deliveries',
  origin: 'ours',
  parameters: idParameter,
  status: 200,
  answer: eventSchema.extend({ deliveries: z.array(deliverySchema) }).meta({ id: 'EventWithDeliveries' }),
  refusals: ['not_found'],
  run: async ({ db }, { parameters: { id } }) => {
    const event = await find(db, id)
    return { ...showEvent(event), deliveries: await deliveriesOf(db, event) }
  },
})

/** Sends the same id and bytes again, to one endpoint or to all that subscribe to the type. */
const resend = defineRoute({
  method: 'post',
  path: '/v1/events/{id}/resend',
  scope: 'write',
  summary: 'Send an event again',
  origin: 'ours',
  parameters: idParameter,
  body: z.strictObject({ endpoint_id: z.string().max(64).optional() }).prefault({}),
  status: 200,
  answer: z.strictObject({ deliveries: z.array(deliverySchema) }),
  refusals: ['not_found', 'endpoint_inactive'],
  run: async ({ db }, { parameters: { id }, body }) => {
    const event = await find(db, id)
    const endpointId = body.endpoint_id ?? null
    const sent = await resendEvent(db, { event, endpointId, at: new Date() })
    if (endpointId !== null && sent.length === 0) await refuseEndpoint(db, endpointId)
    const all = await deliveriesOf(db, event)
    return { deliveries: all.filter((one) => sent.some((row) => row.endpoint_id === one.endpoint_id)) }
  },
})

const eventRoutes = [list, getOne, resend]

async function find(db: Api['db'], id: string): Promise<EventRow> {
  const event = await findEvent(db, id)
  if (event === undefined) throw refusal('not_found', `there is no event ${id}`)
  return event
}

async function deliveriesOf(db: Api['db'], { id }: EventRow): Promise<z.output<typeof deliverySchema>[]> {
  const reading = { below: null, limit: deliveriesShown }
  return (await listDeliveries(db, { eventId: id, status: undefined }, reading)).map(showDelivery)
}

async function refuseEndpoint(db: Api['db'], id: string): Promise<never> {
  if ((await findEndpoint(db, id)) === undefined) {
    throw refusal('not_found', `there is no webhook endpoint ${id}`)
  }
  throw refusal('endpoint_inactive', `${id} is sent nothing; enable it first`)
}

const stableWalletRequest = z.strictObject({ id: idText }).meta({ id: 'StableWalletRequest' })

const fields = z.strictObject({ id: idText, deposit_addresses: z.array(depositAddressSchema) })
const wrapped = z.strictObject({ stable_wallet: fields.meta({ id: 'StableWallet' }) })

const balance = z
  .strictObject({ asset: z.string(), decimals: z.int(), amount: baseUnits })
  .meta({ id: 'Balance', description: 'Base units of the asset. It can be withdrawn on every network.' })
const wrappedWithBalance = z.strictObject({
  stable_wallet: fields.extend({ balance }).meta({ id: 'StableWalletWithBalance' }),
})

/** Idempotent: the same request returns the same response. */
const createStableWallet = defineRoute({
  method: 'post',
  path: '/v1/stable-wallets',
  scope: 'write',
  summary: 'Create a StableWallet',
  origin: 'page',
  body: stableWalletRequest,
  status: 201,
  answer: wrapped,
  refusals: [],
  run: async ({ owners, networks }, { body }) => {
    const rule = { forward_network: null, forward_asset: null, forward_recipient: null }
    const kept = await owners.keep({ kind: 'stable_wallet', id: body.id, ...rule })
    assert(kept.kind === 'kept', 'a StableWallet has no recipient')
    return { stable_wallet: showWallet(kept.owner, networks) }
  },
})

const retrieveStableWallet = defineRoute({
  method: 'get',
  path: '/v1/stable-wallets/{id}',
  scope: 'read',
  summary: 'Retrieve a StableWallet, with its balance',
  origin: 'ours',
  parameters: z.strictObject({ id: idText }),
  status: 200,
  answer: wrappedWithBalance,
  refusals: ['not_found'],
  run: async ({ db, networks }, { parameters: { id } }) => {
    const [owner, held] = await Promise.all([findOwner(db, 'stable_wallet', id), walletBalance(db, id)])
    if (owner === undefined) throw refusal('not_found', `there is no StableWallet ${id}`)
    const { symbol, decimals } = stableAsset
    const shown = { asset: symbol, decimals, amount: held.toString() }
    return { stable_wallet: { ...showWallet(owner, networks), balance: shown } }
  },
})

const listStableWallets = defineRoute({
  method: 'get',
  path: '/v1/stable-wallets',
  scope: 'read',
  summary: 'List StableWallets, the newest first',
  origin: 'ours',
  query: pageQuery,
  status: 200,
  answer: pageOf(wrapped),
  refusals: ['cursor_invalid'],
  run: async ({ db, networks }, { query }) => {
    const { page, next_cursor } = await readPage('stable-wallets', query, (reading) =>
      listOwners(db, 'stable_wallet', reading),
    )
    return { data: page.map((owner) => ({ stable_wallet: showWallet(owner, networks) })), next_cursor }
  },
})

const stableWalletRoutes = [createStableWallet, listStableWallets, retrieveStableWallet]

function showWallet(owner: ServiceOwnerRow, networks: readonly NetworkSettings[]) {
  return { id: owner.id, deposit_addresses: depositAddresses(owner, networks) }
}

const release = defineRoute({
  method: 'post',
  path: '/v1/proxies/deposits/{id}/release',
  scope: 'write',
  summary: 'Release a held deposit, whatever its policy says',
  origin: 'ours',
  parameters: depositId,
  status: 200,
  answer: depositRecord,
  refusals: ['not_found', 'state_conflict'],
  run: async ({ db, deposits, networks }, { parameters: { id } }) => {
    const outcome = await releaseDeposit({ db, deposits }, id)
    if (outcome.kind === 'not_found') throw noDeposit(id)
    if (outcome.kind === 'wrong_state') throw wrongState(outcome.status, 'only what is held is released')
    return recordWriter(networks)(outcome.deposit)
  },
})

const refundRequest = z
  .strictObject({ address: z.string().min(1).max(128).optional() })
  .meta({ id: 'RefundRequest', description: 'Without an address it goes back to its sender.' })

const refund = defineRoute({
  method: 'post',
  path: '/v1/proxies/deposits/{id}/refund',
  scope: 'write',
  summary: 'Refund a deposit, whole and on its own network',
  origin: 'ours',
  parameters: depositId,
  body: refundRequest.optional(),
  status: 200,
  answer: depositRecord,
  refusals: ['not_found', 'network_unknown', 'address_invalid', 'state_conflict', 'sender_unknown'],
  run: async (api, { parameters: { id }, body }) => {
    const to = body?.address === undefined ? null : await readReceiver(api, id, body.address)
    const outcome = await refundDeposit({ db: api.db, deposits: api.deposits }, { id, to })
    if (outcome.kind === 'not_found') throw noDeposit(id)
    if (outcome.kind === 'wrong_state') {
      throw wrongState(outcome.status, 'only what is confirmed or held goes back')
    }
    if (outcome.kind === 'sender_unknown') {
      throw refusal('sender_unknown', 'the chain does not tell who paid: name an address to refund to')
    }
    return recordWriter(api.networks)(outcome.deposit)
  },
})

const depositActionRoutes = [release, refund]

/** Parses a refund address for the network of the deposit. Rejects addresses of this service. */
async function readReceiver({ db, networks, owners }: Api, id: string, text: string): Promise<Address> {
  const { network } = await findDeposit(db, id)
  const stated = { text, place: '/address' }
  const address = readRecipient(readNetwork(networks, { text: network, place: '' }), stated)
  if (await owners.isOwnAddress(address)) throw refuseOwnAddress(stated)
  return address
}

function wrongState(status: DepositStatus, rule: string) {
  return refusal('state_conflict', `the deposit is ${status}, and ${rule}`)
}

/** Needs no key, because the document is public. */
const document = defineRoute({
  method: 'get',
  path: '/openapi.json',
  scope: null,
  summary: 'Describe the API, as OpenAPI 3.1',
  origin: 'ours',
  status: 200,
  answer: z.record(z.string(), z.unknown()).meta({ id: 'Document' }),
  refusals: [],
  run: () => Promise.resolve(described),
})

/** Every route, in the order of the API document. */
export const routes: readonly ApiRoute[] = [
  ...channelRoutes,
  ...stableWalletRoutes,
  ...policyRoutes,
  ...withdrawalRoutes,
  ...depositRoutes,
  ...depositActionRoutes,
  ...webhookRoutes,
  ...eventRoutes,
  document,
]

const described = describeApi(routes)
