import { type Asset, assetCode, type Family, parseAddress } from '../../src/core/asset.ts'
import { parseAmount } from '../../src/core/money.ts'
import type { SandboxNetwork } from '../../src/sandbox/chains.ts'
import { chainBalance } from '../oracle/chain-balance.ts'
import { until } from '../support/until.ts'

const atOnce = 16

/** Works through the places, some at once, and keeps their order. */
export async function eachAtOnce<Result>(
  count: number,
  work: (place: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  for (let start = 0; start < count; start += atOnce) {
    const places = Array.from({ length: Math.min(atOnce, count - start) }, (_, step) => start + step)
    results.push(...(await Promise.all(places.map(work))))
  }
  return results
}

/** What these owners together hold of each asset, by the chains. */
export async function holdings(
  networks: readonly SandboxNetwork[],
  owners: (network: SandboxNetwork) => readonly string[],
) {
  const sums = new Map<string, bigint>()
  for (const network of networks) {
    for (const asset of network.assets) sums.set(asset.key, await heldBy(owners(network), network, asset))
  }
  return sums
}

export async function heldBy(
  owners: readonly string[],
  { family, rpcUrls }: SandboxNetwork,
  asset: Asset,
): Promise<bigint> {
  const amounts = await eachAtOnce(owners.length, (place) =>
    chainBalance({
      family,
      rpcUrl: rpcUrls[0] ?? '',
      contract: assetCode(asset.key),
      owner: owners[place] ?? '',
    }),
  )
  return amounts.reduce((sum, amount) => sum + amount, 0n)
}

/** Gives so much of each asset, and returns once the chains say for good that it is there. */
export async function fundEach(
  networks: readonly SandboxNetwork[],
  owners: Readonly<Record<Family, string>>,
  whole: string,
): Promise<void> {
  for (const network of networks) {
    const owner = owners[network.family]
    for (const asset of network.assets) {
      const amount = parseAmount(whole, asset.decimals)
      await network.fund(parseAddress(network.family, owner), asset.key, amount)
      await until(`${whole} ${asset.key}`, async () =>
        (await heldBy([owner], network, asset)) >= amount ? true : null,
      )
    }
  }
}
