import { readDestination } from '../../address/destination.ts'
import type { Address, Asset, NetworkSettings } from '../../core/asset.ts'
import { findAsset, findNetwork } from '../catalog.ts'
import { type ProblemCode, refusal } from './problem.ts'

export type RequestValue = { text: string; pointer: string }

/** @throws Fault `request_refused` if the network is unknown */
export function readNetwork(networks: readonly NetworkSettings[], value: RequestValue): NetworkSettings {
  const network = findNetwork(networks, value.text)
  if (network !== null) return network
  const known = networks.map(({ name }) => name).join(', ')
  throw refuse('network_unknown', value, `${value.text} is not a supported network; networks: ${known}`)
}

/** @throws Fault `request_refused` if the network does not have the asset */
export function readAsset(network: NetworkSettings, value: RequestValue): Asset {
  const asset = findAsset([network], network.name, value.text)
  if (asset !== null) return asset
  const known = network.assets.map(({ symbol }) => symbol).join(', ')
  throw refuse('asset_unknown', value, `${value.text} is not an asset of ${network.name}; assets: ${known}`)
}

/** @throws Fault `request_refused` if the address is not valid on the network */
export function readRecipient(network: NetworkSettings, value: RequestValue): Address {
  const destination = readDestination(network, value.text)
  if (destination.kind === 'valid') return destination.address
  throw refuse('address_invalid', value, destination.problem)
}

/** Payments to it would become new deposits or belong to no owner. */
export function refuseOwnAddress(value: RequestValue): Error {
  return refuse('address_invalid', value, `${value.text} is an address of this service`)
}

function refuse(code: ProblemCode, { pointer }: RequestValue, detail: string) {
  return refusal(code, detail, { errors: [{ pointer, detail }] })
}
