import { z } from 'zod'
import type { NetworkSettings } from '../../chain/port.ts'
import { assert } from '../../core/errors.ts'
import { findNetwork } from '../catalog.ts'
import { showAddress } from '../keyring/keyring.ts'
import { depositAddresses, findOwner, listOwners } from '../owners.ts'
import type { ServiceOwnerRow } from '../tables.ts'
import { channelRequest, checkPrice, isSameRule, readRule, statedRecipient } from './channel-rule.ts'
import { refusal } from './problem.ts'
import { readPage } from './read-page.ts'
import { defineRoute } from './route.ts'
import { depositAddressSchema, idText, pageOf, pageQuery } from './schemas.ts'
import { refuseOwnAddress } from './stated.ts'

const channel = z
  .strictObject({
    id: idText,
    addresses: z.array(depositAddressSchema),
    forward_network: z.string(),
    forward_asset_symbol: z.string(),
    forward_recipient: z.string(),
  })
  .meta({ id: 'Channel' })

/** The same request again gets the same answer; the same id with another rule is refused. */
const createChannel = defineRoute({
  method: 'post',
  path: '/v1/channels',
  scope: 'write',
  summary: 'Create a channel',
  origin: 'page',
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
    const wanted = readRule(networks, body)
    // A channel that exists is answered as before, whatever became of its price.
    if ((await findOwner(db, 'channel', wanted.id)) === undefined) checkPrice(api, body)
    const kept = await owners.keep(wanted)
    if (kept.kind === 'own_address') throw refuseOwnAddress(statedRecipient(body))
    if (!isSameRule(kept.owner, wanted)) {
      const errors = [{ pointer: '/id', detail: 'is taken by a channel that forwards elsewhere' }]
      throw refusal('id_conflict', `channel ${wanted.id} exists and forwards elsewhere`, { errors })
    }
    return showChannel(kept.owner, networks)
  },
})

const retrieveChannel = defineRoute({
  method: 'get',
  path: '/v1/channels/{id}',
  scope: 'read',
  summary: 'Retrieve a channel',
  origin: 'ours',
  parameters: z.strictObject({ id: idText }),
  status: 200,
  answer: channel,
  refusals: ['not_found'],
  run: async ({ db, networks }, { parameters: { id } }) => {
    const owner = await findOwner(db, 'channel', id)
    if (owner === undefined) throw refusal('not_found', `there is no channel ${id}`)
    return showChannel(owner, networks)
  },
})

const listChannels = defineRoute({
  method: 'get',
  path: '/v1/channels',
  scope: 'read',
  summary: 'List channels, the newest first',
  origin: 'ours',
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
