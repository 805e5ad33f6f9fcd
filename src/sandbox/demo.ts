import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { privateKeyToAddress } from 'viem/accounts'
import { type Address, assetCode, type NetworkName } from '../core/asset.ts'
import { parseAmount } from '../core/money.ts'
import { logEvent } from '../log/log-event.ts'
import type { Faults } from '../service/faults/faults.ts'
import type { DepositService } from '../service/service.ts'
import type { SandboxNetwork } from './chains.ts'
import { type SandboxServiceSettings, startSandboxService } from './sandbox-service.ts'
import { sandboxSigner } from './solana-faucet.ts'

export type TrafficTarget = { network: NetworkName; address: Address }

export type TrafficSettings = {
  networks: readonly SandboxNetwork[]
  targets: readonly TrafficTarget[]
  everyMs: number
  faults: Faults
  countSettled: () => Promise<number>
  log: Logger
}

/** In units of the asset, by symbol. */
const amounts: Record<string, readonly string[]> = {
  USDC: ['100', '250', '40'],
  USDT: ['80', '120', '25'],
  ETH: ['0.05', '0.02', '0.1'],
  SOL: ['1', '0.5', '2'],
}

const opening = [
  { network: 'base', symbol: 'USDC', amount: '250' },
  { network: 'mainnet', symbol: 'USDT', amount: '80' },
  { network: 'base', symbol: 'USDC', amount: '100' },
]
const settledWithinMs = 60_000

const briskPayments = 40
const slowdown = 10

type Payment = { network: SandboxNetwork; symbol: string; to: Address; amount: string }

/** In a new database, the first error of the service is planted; others follow by chance. */
export function startTraffic(settings: TrafficSettings): { stop: () => Promise<void> } {
  const stopping = new AbortController()
  const running = makePayments(settings, stopping.signal)
  return {
    async stop() {
      stopping.abort()
      await running
    },
  }
}

async function makePayments(settings: TrafficSettings, stopping: AbortSignal): Promise<void> {
  const { everyMs } = settings
  if ((await settings.countSettled()) === 0) await makeOpening(settings, stopping)
  const payments = paymentsOf(settings)
  // A stride without a common factor visits all payments and changes the network each time.
  const stride = strideOf(payments.length)
  for (let count = 0; !stopping.aborted; count++) {
    const payment = payments[(count * stride) % payments.length]
    if (payment !== undefined) await pay(payment, settings.log)
    await pause(count < briskPayments ? everyMs : everyMs * slowdown, stopping)
  }
}

/** The fault strikes every forward, so no other payment may be forwarded meanwhile. */
async function makeOpening(settings: TrafficSettings, stopping: AbortSignal): Promise<void> {
  const { networks, targets, everyMs, faults, countSettled, log } = settings
  const chance = faults.current()
  faults.set({ dropWebhookRate: 0, shortForwardRate: 0 })
  for (const [index, { network: name, symbol, amount }] of opening.entries()) {
    const network = networks.find((one) => one.name === name)
    const to = targets.find((target) => target.network === name)?.address
    if (network === undefined || to === undefined || stopping.aborted) break
    const isLast = index === opening.length - 1
    if (isLast) {
      await settled(index)
      faults.set({ shortForwardRate: 1 })
    }
    await pay({ network, symbol, to, amount }, log)
    await pause(everyMs, stopping)
    if (isLast) await settled(opening.length)
  }
  faults.set(chance)

  async function settled(count: number): Promise<void> {
    const until = Date.now() + settledWithinMs
    while (!stopping.aborted && Date.now() < until && (await countSettled()) < count)
      await pause(500, stopping)
  }
}

function paymentsOf({ networks, targets }: TrafficSettings): Payment[] {
  return targets.flatMap(({ network: name, address: to }, turn) => {
    const network = networks.find((one) => one.name === name)
    if (network === undefined) return []
    return network.assets.map(({ symbol }): Payment => {
      const choices = amounts[symbol] ?? ['1']
      return { network, symbol, to, amount: choices[turn % choices.length] ?? '1' }
    })
  })
}

async function pay({ network, symbol, to, amount }: Payment, log: Logger): Promise<void> {
  const asset = network.assets.find((one) => one.symbol === symbol)
  if (asset === undefined) return
  try {
    const tx = await network.pay({ asset: asset.key, to, amount: parseAmount(amount, asset.decimals) })
    logEvent(log, 'demo_paid', { network: network.name, asset: assetCode(asset.key), tx })
  } catch (error) {
    logEvent(log, 'demo_payment_failed', { err: error, network: network.name })
  }
}

async function pause(milliseconds: number, stopping: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal: stopping }).catch(() => undefined)
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

export type DemoChannel = {
  id: string
  forwardNetwork: string
  forwardAsset: string
  forwardRecipient: string
}

export async function demoOwners(): Promise<{ channels: readonly DemoChannel[]; wallet: string }> {
  const solanaRecipient = await sandboxSigner('recipient of the demonstration')
  return {
    channels: [
      { id: 'shop', forwardNetwork: 'base', forwardAsset: 'USDC', forwardRecipient: evmRecipient() },
      {
        id: 'payroll',
        forwardNetwork: 'solana',
        forwardAsset: 'USDC',
        forwardRecipient: solanaRecipient.address,
      },
    ],
    wallet: 'savings',
  }
}

function evmRecipient(): string {
  return privateKeyToAddress(
    `0x${createHash('sha256').update('recipient of the demonstration').digest('hex')}`,
  )
}

export type DemoServiceSettings = Omit<SandboxServiceSettings, 'webhooks' | 'faults'> & {
  webhookUrl: string
}

const faults = { seed: 'demonstration', dropWebhookRate: 0.08, shortForwardRate: 0.08 }

export function startDemoService({ webhookUrl, ...settings }: DemoServiceSettings): Promise<DepositService> {
  const webhooks = [{ url: webhookUrl, secret: settings.secrets.webhookSecret }]
  return startSandboxService({ ...settings, webhooks, faults })
}
