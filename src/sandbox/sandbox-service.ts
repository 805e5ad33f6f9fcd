import type { Logger } from 'pino'
import { assetCode, parseAddress } from '../core/asset.ts'
import { parseAmount } from '../core/money.ts'
import type { FaultSettings } from '../service/faults/faults.ts'
import { liquidityAddresses } from '../service/keyring/keyring.ts'
import { type DepositService, startService } from '../service/service.ts'
import type { TlsSettings } from '../service/settings.ts'
import type { WebhookEndpoint } from '../service/webhooks/endpoints.ts'
import { freePort } from './free-port.ts'
import type { SandboxNetwork } from './local-networks.ts'
import type { SandboxSecrets } from './secrets.ts'

export type SandboxServiceSettings = {
  networks: readonly SandboxNetwork[]
  secrets: SandboxSecrets
  databaseUrl: string
  webhooks: readonly WebhookEndpoint[]
  /** Null disables faults. */
  faults: FaultSettings | null
  /** Preferred port. By default the usual port, or a free one if that is in use. */
  port?: number
  tls?: TlsSettings
  /** Port of the server that switches faults; 0 for any free port. */
  adminPort?: number
  log: Logger
}

const usualPort = 18_080
const pollEveryMs = 500
const replaceAfterMs = 120_000

/** In whole units of USDC; other pairs are derived. The prices of the sandbox never change. */
const prices = { 'ETH/USDC': '3000', 'SOL/USDC': '150', 'USDT/USDC': '0.9995' }

/** More than a long demonstration forwards. */
const liquidity: Readonly<Record<string, string>> = { ETH: '100', SOL: '1000' }
const liquidityOfTokens = '1000000'

/** Starts the deposit service on local chains, with money to forward. */
export async function startSandboxService(settings: SandboxServiceSettings): Promise<DepositService> {
  const { networks, secrets, log, port = await freePort(usualPort), ...asked } = settings
  await Promise.all(networks.map((network) => fundLiquidity(network, secrets)))
  return startService(
    {
      ...asked,
      port,
      seed: secrets.seed,
      networks,
      apiKeys: [
        { key: secrets.readKey, scope: 'read' },
        { key: secrets.writeKey, scope: 'write' },
      ],
      allowPrivateWebhooks: true,
      quotes: { prices, source: null, feeBasisPoints: 10, spreadBasisPoints: 0 },
      sweep: { minimums: {} },
      replaceAfterMs,
      pollEveryMs,
    },
    { log: log.child({ part: 'service' }) },
  )
}

async function fundLiquidity(network: SandboxNetwork, { seed }: SandboxSecrets): Promise<void> {
  const { family, assets } = network
  const to = parseAddress(family, liquidityAddresses({ seed })[family])
  // The native coin comes first: it pays the costs of the tokens.
  for (const { key, symbol, decimals } of assets.toSorted((left) =>
    assetCode(left.key) === 'native' ? -1 : 1,
  )) {
    await network.fund(to, key, parseAmount(liquidity[symbol] ?? liquidityOfTokens, decimals))
  }
}
