import type { Logger } from 'pino'
import { assetCode, parseAddress } from '../core/asset.ts'
import { parseAmount } from '../core/money.ts'
import { liquidityAddresses } from '../service/keyring/keyring.ts'
import { type DepositService, startService } from '../service/service.ts'
import type { SandboxNetwork } from './chains.ts'
import { freePort } from './free-port.ts'
import type { SandboxSecrets } from './secrets.ts'

export type DemoServiceSettings = {
  networks: readonly SandboxNetwork[]
  secrets: SandboxSecrets
  databaseUrl: string
  /** Where its webhooks go. */
  webhookUrl: string
  log: Logger
}

const preferredPort = 18_080
const pollEveryMs = 500

/** In whole units of the settlement asset. The demonstration's world does not move with the market. */
const prices = { 'ETH/USDC': '3000', 'SOL/USDC': '150', 'USDT/USDC': '0.9995' }

/** Errors the demonstration's service makes, as shares of the deposits, so that there are mismatches to see. */
const faults = { seed: 'demonstration', dropWebhookRate: 0.08, shortForwardRate: 0.08 }

/** More than a long demonstration forwards. */
const liquidity: Readonly<Record<string, string>> = { ETH: '100', SOL: '1000' }
const liquidityOfTokens = '1000000'

/** Starts the deposit service of the demonstration, with money to forward. */
export async function startDemoService(settings: DemoServiceSettings): Promise<DepositService> {
  const { networks, secrets, databaseUrl, webhookUrl, log } = settings
  await Promise.all(networks.map((network) => fundLiquidity(network, secrets)))
  return startService(
    {
      port: await freePort(preferredPort),
      databaseUrl,
      seed: secrets.seed,
      networks,
      apiKeys: [
        { key: secrets.readKey, scope: 'read' },
        { key: secrets.writeKey, scope: 'write' },
      ],
      webhooks: [{ url: webhookUrl, secret: secrets.webhookSecret }],
      quotes: { prices, feeBasisPoints: 10 },
      faults,
      pollEveryMs,
    },
    { log: log.child({ part: 'service' }) },
  )
}

async function fundLiquidity(network: SandboxNetwork, { seed }: SandboxSecrets): Promise<void> {
  const { family, assets } = network
  const to = parseAddress(family, liquidityAddresses({ seed })[family])
  // The native coin comes first: it pays for what the tokens need.
  for (const { key, symbol, decimals } of assets.toSorted((left) =>
    assetCode(left.key) === 'native' ? -1 : 1,
  )) {
    await network.fund(to, key, parseAmount(liquidity[symbol] ?? liquidityOfTokens, decimals))
  }
}
