import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { type Address, assetCode, type NetworkName } from '../core/asset.ts'
import { type Amount, parseAmount } from '../core/money.ts'
import { logEvent } from '../log/log-event.ts'
import type { SandboxNetwork } from './chains.ts'

export type TrafficTarget = { network: NetworkName; address: Address }

export type TrafficSettings = {
  networks: readonly SandboxNetwork[]
  /** Addresses to pay to, grouped by owner. */
  targets: readonly TrafficTarget[]
  everyMs: number
  log: Logger
}

/** Small amounts in units of the asset, by symbol. The last digits differ from payment to payment. */
const amounts: Record<string, string> = { USDC: '12.50', USDT: '8.75', ETH: '0.004', SOL: '0.05' }

/** Makes a small real payment every few seconds, with changing networks, assets and owners. */
export function startTraffic({ networks, targets, everyMs, log }: TrafficSettings): {
  stop: () => Promise<void>
} {
  const stopping = new AbortController()
  const payments = targets.flatMap((target) => {
    const network = networks.find(({ name }) => name === target.network)
    return (network?.assets ?? []).map((asset) => ({ network, asset, to: target.address }))
  })
  const run = async (): Promise<void> => {
    for (let count = 0; !stopping.signal.aborted; count++) {
      // A stride that shares no factor with the number of payments visits all of them and changes the network each
      // time.
      const next = payments[(count * strideOf(payments.length)) % payments.length]
      const { network, asset, to } = next ?? {}
      if (network && asset && to) {
        const amount = varied(parseAmount(amounts[asset.symbol] ?? '1', asset.decimals), count)
        await network
          .pay({ asset: asset.key, to, amount })
          .then((tx) =>
            logEvent(log, 'demo_paid', { network: network.name, asset: assetCode(asset.key), tx }),
          )
          .catch((error: unknown) =>
            logEvent(log, 'demo_payment_failed', { err: error, network: network.name }),
          )
      }
      await sleep(everyMs, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
  }
  const running = run()
  return {
    async stop() {
      stopping.abort()
      await running
    },
  }
}

function strideOf(count: number): number {
  const isCoprime = (stride: number) => {
    let [left, right] = [stride, count]
    while (right > 0) [left, right] = [right, left % right]
    return left === 1
  }
  let stride = Math.floor(count * 0.618)
  while (stride > 1 && !isCoprime(stride)) stride--
  return Math.max(stride, 1)
}

/** Makes payments distinguishable by adding a few base units. */
function varied(amount: Amount, count: number): Amount {
  return (amount + BigInt(count % 1000)) as Amount
}
