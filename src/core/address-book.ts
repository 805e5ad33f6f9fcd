import { type Address, type NetworkName, type NetworkSettings, parseAddress } from './asset.ts'
import type { Owner } from './evidence.ts'

/** A channel or wallet as it was approved. What comes in is held against it. */
export type OwnerEntry = {
  owner: Owner
  deposits: readonly { network: NetworkName; address: Address }[]
  /** Null for a StableWallet. */
  forward: { network: NetworkName; asset: string; recipient: Address } | null
  /** Where it is older than its place in the book. */
  createdAt?: Date
}

/** A channel or wallet as somebody states it: networks in our words, addresses as they were written. */
export type StatedOwner = {
  owner: Owner
  deposits: readonly { network: string; address: string }[]
  forward: { network: string; asset: string; recipient: string } | null
}

/** One thing that is stated otherwise than approved: a deposit address on a network, or where to forward. */
export type Contradiction = { what: 'address' | 'recipient'; approved: string; stated: string }

/**
 * What a statement about an owner has otherwise than the book. An address on a network for which the book has none
 * contradicts nothing, and neither does one that is left out.
 */
export function contradictionsOf(
  { deposits, forward }: OwnerEntry,
  stated: StatedOwner,
  networks: readonly NetworkSettings[],
): Contradiction[] {
  const addresses = stated.deposits.flatMap(({ network, address }): Contradiction[] => {
    const kept = deposits.filter((one) => one.network === network)
    const [first] = kept
    const shown = comparable(networks, network, address)
    if (first === undefined || kept.some((one) => one.address === shown)) return []
    return [{ what: 'address', approved: `${network} ${first.address}`, stated: `${network} ${shown}` }]
  })
  if (forward === null || stated.forward === null) return addresses
  const approved = `${forward.network} ${forward.recipient}`
  const { network, recipient } = stated.forward
  const said = `${network} ${comparable(networks, network, recipient)}`
  return said === approved ? addresses : [...addresses, { what: 'recipient', approved, stated: said }]
}

/** The spelling used for comparing; what is no address of its network is like no other. */
function comparable(networks: readonly NetworkSettings[], name: string, address: string): string {
  const family = networks.find((network) => network.name === name)?.family
  try {
    return family === undefined ? address : parseAddress(family, address)
  } catch {
    return address.slice(0, 100)
  }
}

/** Why an owner cannot be kept as given; `network` is that of the address it is about, null for the forwarding rule. */
export type Conflict = { owner: Owner; network: NetworkName | null; problem: string }

export type HeldAddress = { network: NetworkName; address: Address; owner: Owner }

/**
 * What keeps an owner from standing in the book as wanted.
 * @param kept what stands there, once all that was new has been added.
 * @param held the owners of the wanted addresses.
 */
export function conflictsOf(wanted: OwnerEntry, kept: OwnerEntry, held: readonly HeldAddress[]): Conflict[] {
  const { owner, deposits, forward } = wanted
  const name = nameOf(owner)
  const rule = ruleText(forward)
  const keptRule = ruleText(kept.forward)
  const ofRule =
    rule === keptRule ? [] : [{ owner, network: null, problem: `${name} forwards ${keptRule}, not ${rule}` }]
  const ofAddresses = deposits.flatMap(({ network, address }): Conflict[] => {
    const other = kept.deposits.find((one) => one.network === network && one.address !== address)
    if (other !== undefined)
      return [{ owner, network, problem: `${name} has ${other.address} on ${network}, not ${address}` }]
    const holder = held.find((one) => one.network === network && one.address === address)?.owner
    if (holder === undefined || ownerText(holder) === ownerText(owner)) return []
    return [{ owner, network, problem: `${address} on ${network} belongs to ${nameOf(holder)}` }]
  })
  return [...ofRule, ...ofAddresses]
}

function ruleText(forward: OwnerEntry['forward']): string {
  return forward === null ? 'nowhere' : `${forward.asset} to ${forward.recipient} on ${forward.network}`
}

function nameOf({ kind, id }: Owner): string {
  return `${kind.replace('_', ' ')} ${id}`
}

export function ownerText({ kind, id }: Owner): string {
  return `${kind}/${id}`
}
