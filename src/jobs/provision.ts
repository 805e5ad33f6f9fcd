import { readDestination } from '../address/destination.ts'
import { contradictionsOf, type OwnerEntry, ownerKey, type StatedOwner } from '../core/address-book.ts'
import { type Address, type NetworkName, type NetworkSettings, parseAddress } from '../core/asset.ts'
import { Fault } from '../core/errors.ts'
import type { Owner } from '../core/evidence.ts'
import type { NewChannel, OwnersClient } from '../provider/owners-client.ts'
import type { Database } from '../store/database.ts'
import { syncAddressChanged } from '../store/mismatches/mismatches.ts'
import { ownersAt, readOwners, saveOwner } from '../store/owners.ts'
import type { Tables } from '../store/tables.ts'

export type ProvisionDeps = {
  db: Database<Tables>
  owners: OwnersClient
  networks: readonly NetworkSettings[]
  /** Stores it by a decision of people; absent if a program of this project provisions. */
  save?: (entry: OwnerEntry) => Promise<void>
}

/**
 * Its addresses are watched from then on. The requested recipient is stored, not the answered one: every forward is
 * checked against it. A request that cannot be stored is never sent.
 * @throws Fault `usage_bad` if the request cannot be stored; `remote_failed` if the service's answer contradicts it,
 * which also opens an `address_changed`
 */
export async function createChannel(deps: ProvisionDeps, request: NewChannel): Promise<OwnerEntry> {
  const owner: Owner = { kind: 'channel', id: request.id }
  const network = networkOf(deps, request.forwardNetwork)
  const recipient = recipientOn(network, request.forwardRecipient)
  await refuseOwnAddress(deps, recipient)
  const forward = { network: network.name, asset: request.forwardAsset, recipient }
  const stored = await storedOwner(deps, owner)
  // Refused before the service is called, if the stored rule differs.
  if (stored !== null) await saveOwner(deps.db, { ...stored, forward })
  return keep(deps, { owner, stored, forward }, await deps.owners.createChannel(request))
}

/** Throws like `createChannel`. */
export async function createStableWallet(deps: ProvisionDeps, id: string): Promise<OwnerEntry> {
  const owner: Owner = { kind: 'stable_wallet', id }
  const stored = await storedOwner(deps, owner)
  return keep(deps, { owner, stored, forward: null }, await deps.owners.createStableWallet(id))
}

type ProvisionRequest = { owner: Owner; stored: OwnerEntry | null; forward: OwnerEntry['forward'] }

async function keep(
  deps: ProvisionDeps,
  { owner, stored, forward }: ProvisionRequest,
  created: StatedOwner,
): Promise<OwnerEntry> {
  const what = `creating ${owner.kind} ${owner.id}`
  if (created.owner.id !== owner.id) {
    const problem = `requested ${owner.id}, but the service returned ${created.owner.id}`
    throw new Fault('remote_failed', { what, problem })
  }
  const approved = stored ?? { owner, deposits: [], forward }
  const contradictions = contradictionsOf(approved, created, deps.networks)
  const isElsewhere = contradictions.some((one) => one.what === 'address')
  const entry = { owner, deposits: isElsewhere ? approved.deposits : depositsOf(deps, created), forward }
  await (deps.save ?? ((one) => saveOwner(deps.db, one)))(entry)
  if (contradictions.length === 0) return entry
  await syncAddressChanged(deps.db, [{ owner, contradictions }])
  const problem = contradictions.map(({ approved: value, stated }) => `approved: ${value}, stated: ${stated}`)
  throw new Fault('remote_failed', {
    what,
    problem: `${problem.join('; ')}; opened mismatch address_changed`,
  })
}

function depositsOf({ networks }: ProvisionDeps, { deposits }: StatedOwner): OwnerEntry['deposits'] {
  return deposits.flatMap(({ network, address }) => {
    const configured = networks.find(({ name }) => name === network)
    return configured === undefined
      ? []
      : [{ network: configured.name, address: parseAddress(configured.family, address) }]
  })
}

async function storedOwner({ db }: ProvisionDeps, { kind, id }: Owner): Promise<OwnerEntry | null> {
  return (await readOwners(db, kind, [id]))[0] ?? null
}

/** @throws Fault `usage_bad` that names the problem */
function recipientOn(network: NetworkSettings, text: string): Address {
  const destination = readDestination(network, text)
  if (destination.kind === 'valid') return destination.address
  throw new Fault('usage_bad', {
    problem: destination.problem,
    fix: `give one of your own addresses on ${network.name}`,
  })
}

/** A forward to it would arrive as another deposit. */
async function refuseOwnAddress({ db }: ProvisionDeps, recipient: Address): Promise<void> {
  const [held] = await ownersAt(db, [recipient])
  if (held === undefined) return
  throw new Fault('usage_bad', {
    problem: `${recipient} is a deposit address of ${ownerKey(held.owner)}`,
    fix: 'forward to one of your own addresses',
  })
}

function networkOf({ networks }: ProvisionDeps, name: string): NetworkSettings {
  const network = networks.find((one) => one.name === (name as NetworkName))
  if (network !== undefined) return network
  const names = networks.map((one) => one.name).join(', ')
  throw new Fault('usage_bad', { problem: `unknown network ${name}`, fix: `use one of ${names}` })
}
