import { readDestination } from '../../address/destination.ts'
import type { Address, Asset, NetworkSettings } from '../../core/asset.ts'
import { findAsset, findNetwork } from '../catalog.ts'
import { type ProblemCode, refusal } from './problem.ts'

/** A value of a request and the JSON pointer to it. */
export type RequestValue = { text: string; place: string }

/** @throws Fault `request_refused` if the network is unknown */
export function readNetwork(networks: readonly NetworkSettings[], stated: RequestValue): NetworkSettings {
  const network = findNetwork(networks, stated.text)
  if (network !== null) return network
  const known = networks.map(({ name }) => name).join(', ')
  throw refuse('network_unknown', stated, `${stated.text} is none of the networks: ${known}`)
}

/** @throws Fault `request_refused` if the network does not have the asset */
export function readAsset(network: NetworkSettings, stated: RequestValue): Asset {
  const asset = findAsset([network], network.name, stated.text)
  if (asset !== null) return asset
  const known = network.assets.map(({ symbol }) => symbol).join(', ')
  throw refuse('asset_unknown', stated, `${stated.text} is none of the assets of ${network.name}: ${known}`)
}

/** @throws Fault `request_refused` if the address is not valid on the network */
export function readRecipient(network: NetworkSettings, stated: RequestValue): Address {
  const destination = readDestination(network, stated.text)
  if (destination.kind === 'valid') return destination.address
  throw refuse('address_invalid', stated, destination.problem)
}

/** Payments to an address of this service would become new deposits or belong to no owner. */
export function refuseOwnAddress(stated: RequestValue): Error {
  return refuse('address_invalid', stated, `${stated.text} is an address of this service`)
}

function refuse(code: ProblemCode, { place }: RequestValue, detail: string) {
  return refusal(code, detail, { errors: [{ pointer: place, detail }] })
}
