import { isAddress as isSolanaAddress } from '@solana/kit'
import { isAddress as isEvmAddress, zeroAddress } from 'viem'
import { z } from 'zod'
import type { NetworkSettings } from '../../chain/port.ts'
import { type Address, parseAddress } from '../../core/asset.ts'
import { findAsset, findNetwork } from '../catalog.ts'
import type { NewOwner } from '../owners.ts'
import type { OwnerRow } from '../tables.ts'
import { refusal } from './problem.ts'
import { idText } from './schemas.ts'

const word = z.string().min(1).max(128)

/** The interface documents two spellings of the asset and of the destination address. */
export const channelRequest = z
  .strictObject({
    id: idText,
    forward_network: word,
    forward_asset: word.optional(),
    forward_token: word.optional(),
    forward_recipient: word.optional(),
    forward_address: word.optional(),
  })
  .meta({ id: 'ChannelRequest' })

type ChannelRequest = z.output<typeof channelRequest>

/** What the request asks for, with the spelling used for comparing. */
export function readRule(networks: readonly NetworkSettings[], request: ChannelRequest): NewOwner {
  const symbol = oneOf(request, 'forward_asset', 'forward_token')
  const recipient = oneOf(request, 'forward_recipient', 'forward_address')
  const network = findNetwork(networks, request.forward_network)
  if (network === null) {
    const known = networks.map(({ name }) => name).join(', ')
    throw refusal('network_unknown', `forward_network ${request.forward_network} is none of ${known}`)
  }
  const asset = findAsset(networks, network.name, symbol)
  if (asset === null) {
    const known = network.assets.map((candidate) => candidate.symbol).join(', ')
    throw refusal('asset_unknown', `${symbol} is none of the assets of ${network.name}: ${known}`)
  }
  return {
    kind: 'channel',
    id: request.id,
    forward_network: network.name,
    forward_asset: asset.symbol,
    forward_recipient: readRecipient(network, recipient),
  }
}

/** Either spelling, or both where they say the same. */
function oneOf<Name extends keyof ChannelRequest>(
  request: ChannelRequest,
  first: Name,
  second: Name,
): string {
  const [one, other] = [request[first], request[second]]
  if (one !== undefined && other !== undefined && one !== other) {
    throw refusal('fields_contradict', `${first} is ${one}, but ${second} is ${other}`)
  }
  const value = one ?? other
  if (value === undefined) throw refusal('request_invalid', `${first} (or ${second}) is missing`)
  return value
}

/** A hexadecimal address in mixed case must carry the right checksum. Nothing is sent to the zero address. */
function readRecipient({ name, family }: NetworkSettings, text: string): Address {
  const valid = family === 'evm' ? isEvmAddress(text) && text !== zeroAddress : isSolanaAddress(text)
  if (!valid)
    throw refusal('address_invalid', `${text} is not an address on ${name}, or its checksum is wrong`)
  return parseAddress(family, text)
}

export function isSameRule(owner: OwnerRow, wanted: NewOwner): boolean {
  return (
    owner.forward_network === wanted.forward_network &&
    owner.forward_asset === wanted.forward_asset &&
    owner.forward_recipient === wanted.forward_recipient
  )
}
