import {
  type Address,
  type Asset,
  type AssetKey,
  assetNetwork,
  type NetworkName,
} from '../../src/core/asset.ts'
import type { Observation, ServiceId } from '../../src/core/evidence.ts'
import type { Amount } from '../../src/core/money.ts'
import { pinAssets } from '../../src/store/assets.ts'
import { openDatabase } from '../../src/store/database.ts'
import { saveOwner } from '../../src/store/owners.ts'
import type { Tables } from '../../src/store/tables.ts'
import type { Books } from './books.ts'
import { claim, delivery, payment, txId, webhook } from './evidence.ts'

/** A kind of mismatch, and the network on which something goes wrong in that way. */
export type PlantedCause = { kind: string; network: NetworkName }

const networkNames = Array.from({ length: 8 }, (_, index) => `net${index}` as NetworkName)

const address = (network: NetworkName, kind: string): Address =>
  `0x${Buffer.from(`${network}${kind}`).toString('hex').padStart(40, '0')}` as Address

const usdc = (network: NetworkName) => `${network}/0x00000000000000000000000000000000000000aa` as AssetKey

type Parts = {
  paid: Observation
  sent: Observation
  short: Observation
  reported: (changes?: Parameters<typeof claim>[0]) => Observation[]
}

/** What goes wrong, by the kind of mismatch that it is named. */
const wrongs = {
  unreported: ({ paid }) => [paid],
  decimals_mismatch: ({ paid, sent, reported }) => [
    paid,
    sent,
    ...reported({ deposit: { amount: (10n ** 20n) as Amount } }),
  ],
  settlement_short: ({ paid, short, reported }) => [paid, short, ...reported()],
  amount_mismatch: ({ paid, sent, reported }) => [
    paid,
    sent,
    ...reported({ deposit: { amount: 5n as Amount } }),
  ],
  recipient_mismatch: ({ paid, reported }) => [
    paid,
    ...reported({ settlement: { address: '0x00000000000000000000000000000000000000bd' as Address } }),
  ],
} satisfies Record<string, (parts: Parts) => Observation[]>

type Wrong = keyof typeof wrongs

/** Forty: five kinds on eight networks. */
export const plantedCauses: readonly (PlantedCause & { kind: Wrong })[] = networkNames.flatMap((network) =>
  (Object.keys(wrongs) as Wrong[]).map((kind) => ({ kind, network })),
)

/** Makes the networks of all causes known, with a channel on each that forwards on the same network. */
export async function openNetworks(books: Books): Promise<void> {
  const owner = openDatabase<Tables>({ url: books.url, poolMax: 1, applicationName: 'test owner' })
  await pinAssets(owner, networkNames.map(asset))
  for (const network of networkNames)
    await saveOwner(owner, {
      owner: { kind: 'channel', id: `shop-${network}` },
      deposits: [{ network, address: address(network, 'in') }],
      forward: { network, asset: 'USDC', recipient: address(network, 'out') },
    })
  await owner.destroy()
}

function asset(network: NetworkName): Asset {
  const key = usdc(network)
  return { key, network: assetNetwork(key), symbol: 'USDC', decimals: 6 }
}

/** Stores what the sources say of a deposit with which something goes wrong, or nothing if `kind` is null. */
export function plant(
  books: Books,
  { network, kind }: { network: NetworkName; kind: Wrong | null },
  name: string,
): Promise<void> {
  const parts = partsOf(network, `${network}-${kind ?? 'fine'}-${name}`)
  return books.receive(
    ...(kind === null ? [parts.paid, parts.sent, ...parts.reported()] : wrongs[kind](parts)),
  )
}

function partsOf(network: NetworkName, name: string): Parts {
  const key = usdc(network)
  const [tx, forwarded] = [txId(`${name}-p`), txId(`${name}-f`)]
  const place = { network, asset: key }
  const sent = { ...place, tx: forwarded, to: address(network, 'out') }
  return {
    paid: payment({ ...place, tx, to: address(network, 'in') }),
    sent: delivery(sent),
    short: delivery({ ...sent, amount: 90_000_000n as Amount }),
    reported: ({ deposit = {}, settlement = {}, ...changes } = {}) => {
      const all = {
        serviceId: name as ServiceId,
        owner: { kind: 'channel' as const, id: `shop-${network}` },
        deposit: { ...place, address: address(network, 'in'), tx, ...deposit },
        settlement: { ...place, address: address(network, 'out'), tx: forwarded, ...settlement },
        ...changes,
      }
      return [webhook(all), claim(all)]
    },
  }
}

/** A network without anything wrong. */
export const honestNetworks = networkNames
