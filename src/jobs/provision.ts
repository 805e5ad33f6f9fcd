import { type NetworkName, type NetworkSettings, parseAddress } from '../core/asset.ts'
import { Fault } from '../core/errors.ts'
import type { Owner } from '../core/evidence.ts'
import type { ChannelRequest, CreatedOwner, ProviderClient } from '../provider/client.ts'
import { type OwnerEntry, saveOwner } from '../store/address-book.ts'
import type { Database } from '../store/database.ts'
import type { Tables } from '../store/tables.ts'

export type ProvisionDeps = {
  db: Database<Tables>
  client: ProviderClient
  networks: readonly NetworkSettings[]
}

/**
 * Creates a channel at the service and keeps its addresses, so that they are watched from now on. The recipient is
 * kept as it was asked for, not as the service answers: it is what every forward is held against.
 */
export async function createChannel(deps: ProvisionDeps, request: ChannelRequest): Promise<OwnerEntry> {
  const network = networkOf(deps, request.forwardNetwork)
  const forward = {
    network: network.name,
    asset: request.forwardAsset,
    recipient: parseAddress(network.family, request.forwardRecipient),
  }
  const created = await deps.client.createChannel(request)
  return keep(deps, { kind: 'channel', id: request.id }, { created, forward })
}

/** Creates a StableWallet at the service and keeps its addresses. */
export async function createStableWallet(deps: ProvisionDeps, id: string): Promise<OwnerEntry> {
  const created = await deps.client.createStableWallet({ id })
  return keep(deps, { kind: 'stable_wallet', id }, { created, forward: null })
}

type Created = { created: CreatedOwner; forward: OwnerEntry['forward'] }

async function keep(deps: ProvisionDeps, owner: Owner, { created, forward }: Created): Promise<OwnerEntry> {
  if (created.id !== owner.id) {
    const problem = `asked to create ${owner.id}, the service answered with ${created.id}`
    throw new Fault('remote_failed', { what: `creating ${owner.kind} ${owner.id}`, problem })
  }
  const known = created.addresses.filter(({ network }) => deps.networks.some(({ name }) => name === network))
  const deposits = known.map(({ network, address }) => {
    const { name, family } = networkOf(deps, network)
    return { network: name, address: parseAddress(family, address) }
  })
  const entry = { owner, deposits, forward }
  await saveOwner(deps.db, entry)
  return entry
}

function networkOf(
  { networks }: ProvisionDeps,
  name: string,
): { name: NetworkName; family: NetworkSettings['family'] } {
  const network = networks.find((one) => one.name === name)
  if (network !== undefined) return network
  const known = networks.map((one) => one.name).join(', ')
  throw new Fault('usage_bad', { problem: `there is no network ${name}`, mend: `use one of ${known}` })
}
