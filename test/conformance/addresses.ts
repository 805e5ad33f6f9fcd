import type { Run } from './fact.ts'
import { base58Form, hexadecimal, hexForm, networks } from './identities.ts'
import { must, shown } from './outcome.ts'
import {
  addressOn,
  type Channel,
  type DepositAddress,
  openChannel,
  openWallet,
  type Wallet,
} from './owners.ts'
import type { Subject } from './subject.ts'

type Opened = { channels: [Channel, Channel]; wallet: Wallet }

/** Two channels and a wallet, whose addresses are looked at. */
async function openOwners(subject: Subject): Promise<Opened> {
  const [one, other, wallet] = await Promise.all([
    openChannel(subject, 'base'),
    openChannel(subject, 'solana'),
    openWallet(subject),
  ])
  return { channels: [one, other], wallet }
}

async function ownersOf(run: Run): Promise<readonly (Channel | Wallet)[]> {
  const { channels, wallet } = await run.once(openOwners)
  return [...channels, wallet]
}

function isSet(names: readonly string[], expected: readonly string[]): boolean {
  return names.length === expected.length && names.toSorted().join() === expected.toSorted().join()
}

/** One address per network, and none that another channel has. */
export async function mustBeDedicated(run: Run): Promise<void> {
  const { channels } = await run.once(openOwners)
  for (const { addresses } of channels) mustBeOnePerNetwork(addresses)
  const [one, other] = channels.map(({ addresses }) => new Set(addresses.map(({ address }) => address)))
  const shared = [...(one ?? [])].filter((address) => other?.has(address))
  must(shared.length === 0, `two channels have the same address: ${shown(shared)}`)
}

function mustBeOnePerNetwork(addresses: readonly DepositAddress[]): void {
  const names = addresses.map(({ network }) => network)
  must(new Set(names).size === names.length, `a network has more than one address: ${shown(names)}`)
}

export async function mustNameNetworks(run: Run): Promise<void> {
  for (const { addresses } of await ownersOf(run)) {
    mustBeOnePerNetwork(addresses)
    const names = addresses.map(({ network }) => network)
    must(isSet(names, networks), `the networks are stated to be ${networks.join()}, and are ${names.join()}`)
  }
}

/** Each network has an address in the form of that network. */
export async function mustBeNative(run: Run): Promise<void> {
  await mustBeHexadecimal(run)
  await mustBeBase58(run)
}

export async function mustBeHexadecimal(run: Run): Promise<void> {
  for (const owner of await ownersOf(run)) {
    for (const network of hexadecimal) {
      const address = addressOn(network, owner)
      must(hexForm.test(address), `the address on ${network} is not 0x and 40 digits: ${address}`)
    }
  }
}

export async function mustBeBase58(run: Run): Promise<void> {
  for (const owner of await ownersOf(run)) {
    const address = addressOn('solana', owner)
    must(base58Form.test(address), `the address on solana is not base58 of 32 bytes: ${address}`)
  }
}

export async function mustBeShared(run: Run): Promise<void> {
  for (const owner of await ownersOf(run)) {
    const used = new Set(hexadecimal.map((network) => addressOn(network, owner)))
    must(used.size === 1, `one hexadecimal address is stated for three networks: ${shown([...used])}`)
  }
}
