import type { OwnerEntry } from '../../src/core/address-book.ts'
import { toAmount } from '../../src/core/money.ts'
import type { SandboxNetwork } from '../../src/sandbox/local-networks.ts'
import type { PaidDeposit } from './world.ts'

export type Payer = {
  pay: (count: number) => Promise<readonly PaidDeposit[]>
  readonly paid: readonly PaidDeposit[]
}

/** Pays networks, assets and owners in turn; no two payments of an asset are of the same amount. */
export function createPayer(networks: readonly SandboxNetwork[], owners: readonly OwnerEntry[]): Payer {
  const paid: PaidDeposit[] = []
  let place = 0
  const payNext = async (): Promise<PaidDeposit> => {
    const payment = choose(place++, { networks, owners })
    const { network, asset, to, amount } = payment
    const tx = await network.pay({ asset, to, amount })
    const made = { network: network.name, tx, address: to, asset, amount }
    paid.push(made)
    return made
  }
  return {
    paid,
    pay(count) {
      const paying = Promise.all(Array.from({ length: count }, payNext))
      // A fault that fails meanwhile does not wait for it any more.
      paying.catch(() => undefined)
      return paying
    },
  }
}

type Choices = { networks: readonly SandboxNetwork[]; owners: readonly OwnerEntry[] }

function choose(place: number, { networks, owners }: Choices) {
  const network = networks[place % networks.length]
  const round = Math.floor(place / networks.length)
  const asset = network?.assets[round % network.assets.length]
  const owner = owners[Math.floor(place / 2) % owners.length]
  const to = owner?.deposits.find((one) => one.network === network?.name)?.address
  if (network === undefined || asset === undefined || to === undefined) throw new Error('nothing to pay')
  const amount = toAmount(10n ** BigInt(asset.decimals) / 50n + BigInt(place))
  return { network, asset: asset.key, to, amount }
}
