import { randomBytes } from 'node:crypto'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Logger } from 'pino'
import { assetCode, parseAddress } from '../core/asset.ts'
import { parseAmount } from '../core/money.ts'
import { isApiKey, makeApiKey } from '../service/api-keys.ts'
import type { FaultSettings } from '../service/faults/faults.ts'
import { liquidityAddresses } from '../service/keyring/keyring.ts'
import { type DepositService, startService } from '../service/service.ts'
import type { TlsSettings } from '../service/settings.ts'
import type { WebhookEndpoint } from '../service/webhooks/endpoints.ts'
import { timed } from './chains.ts'
import { onFreePort } from './free-port.ts'
import { databases, type GroundSettings, startGround } from './ground.ts'
import type { SandboxNetwork } from './local-networks.ts'
import { type SandboxSecrets, type ServiceFiles, writeServiceFiles } from './service-files.ts'

export type SandboxServiceSettings = {
  networks: readonly SandboxNetwork[]
  secrets: SandboxSecrets
  databaseUrl: string
  webhooks: readonly WebhookEndpoint[]
  /** Null disables faults. */
  faults: FaultSettings | null
  port?: number
  tls?: TlsSettings
  adminPort?: number
  log: Logger
}

const usualPort = 18_080
const pollEveryMs = 500
const replaceAfterMs = 120_000

/** Prices are in whole units of USDC; other pairs are derived. */
export const sandboxTerms = {
  prices: { 'ETH/USDC': '3000', 'SOL/USDC': '150', 'USDT/USDC': '0.9995' },
  feeBasisPoints: 10,
  spreadBasisPoints: 0,
}

const liquidity: Readonly<Record<string, string>> = { ETH: '100', SOL: '1000' }
const liquidityOfTokens = '1000000'

export async function startSandboxService(settings: SandboxServiceSettings): Promise<DepositService> {
  const { networks, secrets, log, ...asked } = settings
  await Promise.all(networks.map((network) => fundLiquidity(network, secrets)))
  const start = (port: number) =>
    startService(
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
        quotes: { ...sandboxTerms, source: null },
        sweep: { minimums: {} },
        replaceAfterMs,
        pollEveryMs,
      },
      { log: log.child({ part: 'service' }) },
    )
  return asked.port === undefined ? onFreePort(usualPort, start) : start(asked.port)
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

/** Keys that the service does not accept are replaced; secrets of the chains and the database stay. */
export function sandboxSecrets(folder: string): SandboxSecrets {
  const path = join(folder, 'secrets.json')
  const stored = readSecrets(path)
  if (stored !== null && [stored.readKey, stored.writeKey].every(isApiKey)) return stored
  const secrets = {
    readKey: makeApiKey(),
    writeKey: makeApiKey(),
    webhookSecret: stored?.webhookSecret ?? `whsec_${randomBytes(24).toString('base64')}`,
    seed: stored?.seed ?? randomBytes(32).toString('hex'),
  }
  writeFileSync(`${path}.new`, JSON.stringify(secrets, null, 2), { mode: 0o600 })
  renameSync(`${path}.new`, path)
  return secrets
}

function readSecrets(path: string): SandboxSecrets | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as SandboxSecrets
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}

export type ServiceAloneSettings = GroundSettings & {
  port?: number
  /** Null disables faults. */
  faults: FaultSettings | null
  adminPort?: number
}

export type ServiceAlone = {
  service: DepositService
  networks: readonly SandboxNetwork[]
  keyFiles: ServiceFiles
  databaseUrl: string
  stop(): Promise<void>
}

/** @throws Fault `usage_bad` if another process uses the folder, `remote_failed` if a component does not start */
export async function startServiceAlone(settings: ServiceAloneSettings): Promise<ServiceAlone> {
  const { folder, onPart, ...asked } = settings
  await using starting = new AsyncDisposableStack()
  const { postgres, chains } = await startGround(settings, starting)
  const { networks } = chains
  const secrets = sandboxSecrets(folder)
  const databaseUrl = postgres.url(databases.service)
  const service = await timed(onPart, 'service', async () => {
    const part = await startSandboxService({ ...asked, networks, secrets, databaseUrl, webhooks: [] })
    starting.defer(() => part.stop())
    return { part, address: part.url }
  })
  const place = { url: service.url, databaseUrl, adminUrl: service.faultsUrl, networks, secrets }
  const keyFiles = writeServiceFiles(resolve(folder), place)
  const running = starting.move()
  return { service, networks, keyFiles, databaseUrl, stop: () => running.disposeAsync() }
}
