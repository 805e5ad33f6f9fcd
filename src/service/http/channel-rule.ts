import { z } from 'zod'
import type { NetworkSettings } from '../../chain/port.ts'
import { priceOf } from '../deposits/quote.ts'
import type { NewOwner } from '../owners.ts'
import type { ServiceOwnerRow } from '../tables.ts'
import { refusal } from './problem.ts'
import type { Api } from './route.ts'
import { idText } from './schemas.ts'
import { type RequestValue, readAsset, readNetwork, readRecipient } from './stated.ts'

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

type ChannelRequestBody = z.output<typeof channelRequest>

/** What the request asks for, with the spelling used for comparing. */
export function readRule(
  networks: readonly NetworkSettings[],
  request: ChannelRequestBody,
): NewOwner & { kind: 'channel' } {
  const asset = statedAsset(request)
  const recipient = statedRecipient(request)
  const network = readNetwork(networks, { text: request.forward_network, place: '/forward_network' })
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

/**
 * Refuses an asset into which nothing else can be converted, though other prices are known. A service without any price
 * only moves assets, and takes every channel.
 * @throws Fault `request_refused`
 */
export function checkPrice({ networks, prices }: Api, request: ChannelRequestBody): void {
  const { text: symbol, place: pointer } = statedAsset(request)
  const table = prices.current() ?? {}
  const symbols = networks.flatMap(({ assets }) => assets.map((asset) => asset.symbol))
  const others = symbols.filter((other) => other !== symbol)
  if (Object.keys(table).length === 0 || others.length === 0) return
  if (others.some((other) => priceOf(table, other, symbol) !== null)) return
  const detail = `${symbol} has no price: no other asset can be converted into it`
  throw refusal('price_missing', detail, { errors: [{ pointer, detail }] })
}

/** Where the request states its destination address. */
export function statedRecipient(request: ChannelRequestBody): RequestValue {
  return oneOf(request, 'forward_recipient', 'forward_address')
}

/** Either spelling, or both where they say the same. */
function oneOf<Name extends keyof ChannelRequestBody>(
  request: ChannelRequestBody,
  first: Name,
  second: Name,
): RequestValue {
  const [one, other] = [request[first], request[second]]
  if (one !== undefined && other !== undefined && !areSame(one, other)) {
    const errors = [first, second].map((name) => ({ pointer: `/${name}`, detail: 'contradicts the other' }))
    throw refusal('fields_contradict', `${first} is ${one}, but ${second} is ${other}`, { errors })
  }
  const text = one ?? other
  if (text !== undefined) return { text, place: `/${one === undefined ? second : first}` }
  const errors = [{ pointer: `/${first}`, detail: `is missing, and so is ${second}` }]
  throw refusal('request_invalid', `${first} (or ${second}) is missing`, { errors })
}

/** Hexadecimal addresses are the same whatever their case. */
function areSame(one: string, other: string): boolean {
  return one === other || (one.startsWith('0x') && one.toLowerCase() === other.toLowerCase())
}

export function isSameRule(owner: ServiceOwnerRow, wanted: NewOwner): boolean {
  return (
    owner.forward_network === wanted.forward_network &&
    owner.forward_asset === wanted.forward_asset &&
    owner.forward_recipient === wanted.forward_recipient
  )
}
