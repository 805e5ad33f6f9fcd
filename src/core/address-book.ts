import { type Address, type NetworkName, type NetworkSettings, parseAddress } from './asset.ts'
import type { Owner } from './evidence.ts'

/** As approved. Incoming evidence is compared with it. */
export type OwnerEntry = {
  owner: Owner
  deposits: readonly OwnerAddress[]
  /** Null for a StableWallet. */
  forward: { network: NetworkName; asset: string; recipient: Address } | null
  /** Set if the owner is older than its entry in the address book. */
  createdAt?: Date
}

export type OwnerAddress = {
  network: NetworkName
  address: Address
  /** Absent if it is valid for payments of any time. */
  validFrom?: Date
  /** Only of a stored one, of which the validity ends or has ended. */
  isEnded?: true
}

/** Who added or ended entries, the second person, if there is one, and the signed decision. */
export type EntryPeople = { by: string; approvedBy: string | null; decision?: bigint | null }

/** For entries that a program of this project makes. */
export const byProgram: EntryPeople = { by: 'depositd', approvedBy: null }

/** Networks by our names, addresses as written. */
export type StatedOwner = {
  owner: Owner
  deposits: readonly { network: string; address: string }[]
  forward: { network: string; asset: string; recipient: string } | null
}

/** A deposit address on a network, or the forwarding recipient. */
export type Contradiction = { what: 'address' | 'recipient'; approved: string; stated: string }

/** Neither an omitted address nor one on a network for which the book has none is a contradiction. */
export function contradictionsOf(
  { deposits, forward }: OwnerEntry,
  stated: StatedOwner,
  networks: readonly NetworkSettings[],
): Contradiction[] {
  const addresses = stated.deposits.flatMap(({ network, address }): Contradiction[] => {
    const known = deposits.filter((one) => one.network === network).map((one) => one.address)
    const shown = comparable(networks, network, address)
    if (known[0] === undefined || known.some((one) => one === shown)) return []
    return [{ what: 'address', approved: `${network} ${known[0]}`, stated: `${network} ${shown}` }]
  })
  if (forward === null || stated.forward === null) return addresses
  const approved = `${forward.network} ${forward.recipient}`
  const { network, recipient } = stated.forward
  const statedRule = `${network} ${comparable(networks, network, recipient)}`
  return statedRule === approved
    ? addresses
    : [...addresses, { what: 'recipient', approved, stated: statedRule }]
}

/** A text that is not an address of its network equals no address. */
function comparable(networks: readonly NetworkSettings[], name: string, address: string): string {
  const family = networks.find((network) => network.name === name)?.family
  try {
    return family === undefined ? address : parseAddress(family, address)
  } catch {
    return address.slice(0, 100)
  }
}

/** `network` is that of the address, null for the forwarding rule. */
export type Conflict = { owner: Owner; network: NetworkName | null; problem: string }

export type HeldAddress = { network: NetworkName; address: Address; owner: Owner }

/**
 * An owner has one address on a network, until its validity ends.
 * @param stored the owner's entry, after all new addresses were added
 * @param holders the owners of the requested addresses
 */
export function conflictsOf(
  { owner, deposits, forward }: OwnerEntry,
  stored: OwnerEntry,
  holders: readonly HeldAddress[],
): Conflict[] {
  const name = nameOf(owner)
  const rule = ruleText(forward)
  const storedRule = ruleText(stored.forward)
  const ofRule =
    rule === storedRule
      ? []
      : [{ owner, network: null, problem: `${name} forwards ${storedRule}, not ${rule}` }]
  const ofAddresses = deposits.flatMap(({ network, address }): Conflict[] => {
    const other = stored.deposits.find(
      (one) => one.network === network && one.address !== address && one.isEnded !== true,
    )
    if (other !== undefined)
      return [{ owner, network, problem: `${name} has ${other.address} on ${network}, not ${address}` }]
    const holder = holders.find((one) => one.network === network && one.address === address)?.owner
    if (holder === undefined || ownerKey(holder) === ownerKey(owner)) return []
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

export function ownerKey({ kind, id }: Owner): string {
  return `${kind}/${id}`
}
