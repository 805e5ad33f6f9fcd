import { z } from 'zod'
import type { NetworkSettings } from '../../core/asset.ts'
import { assert } from '../../core/errors.ts'
import { pageOf, pageQuery } from '../../http/pages.ts'
import { findNetwork } from '../catalog.ts'
import { priceOf } from '../deposits/quote.ts'
import { showAddress } from '../keyring/keyring.ts'
import { depositAddresses, findOwner, listOwners, type NewOwner } from '../owners.ts'
import type { ServiceOwnerRow } from '../tables.ts'
import { readPage } from './pages.ts'
import { notFound, refusal } from './problem.ts'
import {
  type RequestValue,
  readAsset,
  readNetwork,
  readRecipient,
  refuseOwnAddress,
} from './request-values.ts'
import { type Api, defineRoute, ofPage, ours } from './route.ts'
import { depositAddressSchema, idText } from './schemas.ts'

const word = z.string().min(1).max(128)

/** The interface documents two names each for the asset and for the destination address. */
const channelRequest = z
  .strictObject({
    id: idText,
    forward_network: word,
    forward_asset: word.optional(),
    forward_token: word.optional(),
    forward_recipient: word.optional(),
    forward_address: word.optional(),
  })
  .meta({ id: 'ChannelRequest' })

type ChannelRequestBody = z.output<typeof channelRequest>

function readRule(
  networks: readonly NetworkSettings[],
  request: ChannelRequestBody,
): NewOwner & { kind: 'channel' } {
  const asset = statedAsset(request)
  const recipient = statedRecipient(request)
  const network = readNetwork(networks, { text: request.forward_network, pointer: '/forward_network' })
  return {
    kind: 'channel',
    id: request.id,
    forward_network: network.name,
    forward_asset: readAsset(network, asset).symbol,
    forward_recipient: readRecipient(network, recipient),
  }
}

function statedAsset(request: ChannelRequestBody): RequestValue {
  return oneOf(request, 'forward_asset', 'forward_token')
}

/** A service without prices only moves assets and accepts every channel. @throws Fault `request_refused` */
function checkPrice({ networks, prices }: Api, request: ChannelRequestBody): void {
  const { text: symbol, pointer } = statedAsset(request)
  const table = prices.current() ?? {}
  const symbols = networks.flatMap(({ assets }) => assets.map((asset) => asset.symbol))
  const others = symbols.filter((other) => other !== symbol)
  if (Object.keys(table).length === 0 || others.length === 0) return
  if (others.some((other) => priceOf(table, other, symbol) !== null)) return
  const detail = `${symbol} has no price; no other asset can be converted into it`
  throw refusal('price_missing', detail, { errors: [{ pointer, detail }] })
}

function statedRecipient(request: ChannelRequestBody): RequestValue {
  return oneOf(request, 'forward_recipient', 'forward_address')
}

function oneOf<Name extends keyof ChannelRequestBody>(
  request: ChannelRequestBody,
  first: Name,
  second: Name,
): RequestValue {
  const [one, other] = [request[first], request[second]]
  if (one !== undefined && other !== undefined && !areSame(one, other)) {
    const errors = [first, second].map((name) => ({
      pointer: `/${name}`,
      detail: 'contradicts the other field',
    }))
    throw refusal('fields_contradict', `${first} is ${one}, but ${second} is ${other}`, { errors })
  }
  const text = one ?? other
  if (text !== undefined) return { text, pointer: `/${one === undefined ? second : first}` }
  const errors = [{ pointer: `/${first}`, detail: `is missing; state it or ${second}` }]
  throw refusal('request_invalid', `${first} (or ${second}) is missing`, { errors })
}

function areSame(one: string, other: string): boolean {
  return one === other || (one.startsWith('0x') && one.toLowerCase() === other.toLowerCase())
}

function isSameRule(owner: ServiceOwnerRow, requested: NewOwner): boolean {
  return (
    owner.forward_network === requested.forward_network &&
    owner.forward_asset === requested.forward_asset &&
    owner.forward_recipient === requested.forward_recipient
  )
}

const channel = z
  .strictObject({
    id: idText,
    addresses: z.array(depositAddressSchema),
    forward_network: z.string(),
    forward_asset_symbol: z.string(),
    forward_recipient: z.string(),
  })
  .meta({ id: 'Channel' })

/** Idempotent. The same id with another rule is refused. */
const createChannel = defineRoute({
  method: 'post',
  path: '/v1/channels',
  scope: 'write',
  summary: 'Create a channel',
  description: ofPage,
  body: channelRequest,
  status: 201,
  answer: channel,
  refusals: [
    'fields_contradict',
    'network_unknown',
    'asset_unknown',
    'address_invalid',
    'id_conflict',
    'price_missing',
  ],
  run: async (api, { body }) => {
    const { db, owners, networks } = api
    const requested = readRule(networks, body)
    // An existing channel is returned even if its asset has no price any more.
    if ((await findOwner(db, 'channel', requested.id)) === undefined) checkPrice(api, body)
    const outcome = await owners.findOrCreate(requested)
    if (outcome.kind === 'own_address') throw refuseOwnAddress(statedRecipient(body))
    if (!isSameRule(outcome.owner, requested)) {
      const errors = [{ pointer: '/id', detail: 'is used by a channel with another forwarding rule' }]
      throw refusal('id_conflict', `channel ${requested.id} exists with another forwarding rule`, { errors })
    }
    return showChannel(outcome.owner, networks)
  },
})

const retrieveChannel = defineRoute({
  method: 'get',
  path: '/v1/channels/{id}',
  scope: 'read',
  summary: 'Retrieve a channel',
  description: ours,
  parameters: z.strictObject({ id: idText }),
  status: 200,
  answer: channel,
  refusals: ['not_found'],
  run: async ({ db, networks }, { parameters: { id } }) => {
    const owner = await findOwner(db, 'channel', id)
    if (owner === undefined) throw notFound('channel', id)
    return showChannel(owner, networks)
  },
})

const listChannels = defineRoute({
  method: 'get',
  path: '/v1/channels',
  scope: 'read',
  summary: 'List channels, the newest first',
  description: ours,
  query: pageQuery,
  status: 200,
  answer: pageOf(channel),
  refusals: ['cursor_invalid'],
  run: async ({ db, networks }, { query }) => {
    const { page, next_cursor } = await readPage('channels', query, (reading) =>
      listOwners(db, 'channel', reading),
    )
    return { data: page.map((owner) => showChannel(owner, networks)), next_cursor }
  },
})

export const channelRoutes = [createChannel, listChannels, retrieveChannel]

function showChannel(owner: ServiceOwnerRow, networks: readonly NetworkSettings[]): z.output<typeof channel> {
  const { id, forward_network: name, forward_asset: symbol, forward_recipient: recipient } = owner
  assert(name !== null && symbol !== null && recipient !== null, 'a channel has a forwarding rule')
  const family = findNetwork(networks, name)?.family
  return {
    id,
    addresses: depositAddresses(owner, networks),
    forward_network: name,
    forward_asset_symbol: symbol,
    forward_recipient: family === undefined ? recipient : showAddress(family, recipient),
  }
}
