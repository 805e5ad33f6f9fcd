import { z } from 'zod'
import type { NetworkSettings } from '../../chain/port.ts'
import { assert } from '../../core/errors.ts'
import { findNetwork } from '../catalog.ts'
import { showAddress } from '../keyring/keyring.ts'
import { depositAddresses, keepOwner } from '../owners.ts'
import type { OwnerRow } from '../tables.ts'
import { channelRequest, isSameRule, readRule } from './channel-rule.ts'
import { refusal } from './problem.ts'
import { defineRoute } from './route.ts'
import { depositAddressSchema, idText } from './schemas.ts'

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
  refusals: ['fields_contradict', 'network_unknown', 'asset_unknown', 'address_invalid', 'id_conflict'],
  run: async ({ db, keyring, networks }, { body }) => {
    const wanted = readRule(networks, body)
    const owner = await keepOwner(db, keyring, wanted)
    if (!isSameRule(owner, wanted)) {
      throw refusal('id_conflict', `channel ${owner.id} exists and forwards elsewhere`)
    }
    return showChannel(owner, networks)
  },
})

export const channelRoutes = [createChannel]

function showChannel(owner: OwnerRow, networks: readonly NetworkSettings[]): z.output<typeof channel> {
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
