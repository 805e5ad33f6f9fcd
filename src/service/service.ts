import { sql } from 'kysely'
import type { Logger } from 'pino'
import { type AssetCode, assetCode, type NetworkName, type NetworkSettings } from '../core/asset.ts'
import { Fault } from '../core/errors.ts'
import { openPoster } from '../outbox/post-webhook.ts'
import type { SecretVault } from '../outbox/secret-vault.ts'
import { findNetwork } from './catalog.ts'
import { openDeposits } from './deposits/deposits.ts'
import { openPrices } from './deposits/prices.ts'
import { recordWriter } from './deposits/record.ts'
import { startFaultServer } from './faults/fault-server.ts'
import { createFaults, type Faults } from './faults/faults.ts'
import { startServer } from './http/server.ts'
import { type Keyring, openKeyring } from './keyring/keyring.ts'
import { openEvm } from './network/evm.ts'
import type { NetworkClient } from './network/port.ts'
import { openSolana } from './network/solana.ts'
import { openOwners } from './owners.ts'
import { type Loop, startLoop } from './running/loop.ts'
import { describeError } from './running/requests.ts'
import { openServiceDatabase } from './service-database.ts'
import { checkSettings, type DepositServiceSettings } from './settings.ts'
import { openStream } from './streams.ts'
import type { ServiceDatabase } from './tables.ts'
import { startTransfers } from './transfers/start-transfers.ts'
import { openCourier } from './webhooks/deliver-webhooks.ts'
import { applyEndpoints } from './webhooks/endpoints.ts'
import { openOutbox } from './webhooks/outbox.ts'
import { openVault } from './webhooks/secrets.ts'

export type DepositService = {
  url: string
  faults: Faults
  /** Null if it is disabled. */
  faultsUrl: string | null
  stop(): Promise<void>
}

const poolMax = 12

/** The nodes must be reachable. @throws Fault `settings_bad`, `remote_failed` */
export async function startService(
  settings: DepositServiceSettings,
  deps: { log: Logger },
): Promise<DepositService> {
  checkSettings(settings)
  const keyring = openKeyring(settings.seed)
  await using starting = new AsyncDisposableStack()
  const place = { url: settings.databaseUrl, poolMax, applicationName: 'deposit service' }
  const db = await openServiceDatabase(place)
  starting.defer(() => db.destroy())
  await checkNamedAssets(db, settings.networks)
  const networks = openNetworks(settings, keyring)
  await Promise.all(networks.map((network) => connect(network, () => openStream(db, keyring, network))))
  const faults = createFaults(settings.faults)
  const vault = openVault(settings.seed)
  const delivery = await startWebhooks({ db, vault, settings, faults, log: deps.log })
  starting.defer(() => delivery.stop())
  const deposits = openDeposits(openOutbox(recordWriter(settings.networks), faults))
  const prices = openPrices(settings.quotes, Date.now)
  const parts = { settings, db, deposits, keyring, prices, networks, faults, log: deps.log }
  const loops = startTransfers({ ...parts, onEvents: () => delivery.wake() })
  starting.defer(() => Promise.all(loops.map((loop) => loop.stop())).then(() => undefined))
  const owners = openOwners(db, keyring)
  const server = await startServer({ settings, db, owners, deposits, prices, faults, log: deps.log })
  starting.defer(() => server.stop())
  const faultServer = await openFaultServer(settings, faults, deps.log)
  starting.defer(() => faultServer?.stop())
  const running = starting.move()
  const faultsUrl = faultServer?.url ?? null
  return { url: server.url, faults, faultsUrl, stop: () => running.disposeAsync() }
}

async function openFaultServer(
  { adminPort: port, faults: allowed }: DepositServiceSettings,
  faults: Faults,
  log: Logger,
) {
  return port === undefined || allowed === null ? null : startFaultServer({ faults, port, log })
}

function openNetworks({ networks }: DepositServiceSettings, keyring: Keyring): NetworkClient[] {
  return networks.map((network) =>
    network.family === 'evm' ? openEvm(network, keyring) : openSolana(network, keyring),
  )
}

async function connect(network: NetworkClient, begin: () => Promise<void>): Promise<void> {
  try {
    await network.check()
    await begin()
  } catch (error) {
    if (error instanceof Fault) throw error
    const details = { what: `reading ${network.settings.name}`, problem: describeError(error) }
    throw new Fault('remote_failed', details, { cause: error })
  }
}

/** Named by its code if the symbol is null; `count` records name it, and `example` is the id of one. */
type AssetUsage = {
  by: string
  network: NetworkName
  symbol: string | null
  code: AssetCode | null
  count: number
  example: string
}

/**
 * Finds networks and assets in use that the settings lack: open payments could not be made, and deposits to those
 * channels could not be recorded.
 * @throws Fault `settings_bad`
 */
export async function checkNamedAssets(
  db: ServiceDatabase,
  networks: readonly NetworkSettings[],
): Promise<void> {
  const lacking = (await namedAssets(db)).filter((named) => !isKnown(networks, named))
  if (lacking.length > 0) throw new Fault('settings_bad', { faults: lacking.map(report) })
}

async function namedAssets(db: ServiceDatabase): Promise<readonly AssetUsage[]> {
  const { rows } = await sql<AssetUsage>`
    with open as (
      select * from service.deposit
      where status in ('detected', 'confirmed', 'converting', 'forwarding', 'held', 'refunding')),
    named (by, network, symbol, code, id) as (
      select 'channels', forward_network, forward_asset, null, id from service.owner where kind = 'channel'
      union all select 'open deposits', network, null, coalesce(contract, 'native'), id from open
      union all select 'open deposits', to_network, null, coalesce(to_contract, 'native'), id from open
      where to_network is not null
      union all select 'open withdrawals', network, null, asset, id from service.withdrawal
      where status in ('requested', 'sending'))
    select by, network, symbol, code, count(*)::integer as count, min(id) as example
    from named group by by, network, symbol, code order by by, network, symbol, code`.execute(db)
  return rows
}

function isKnown(networks: readonly NetworkSettings[], { network, symbol, code }: AssetUsage): boolean {
  const assets = findNetwork(networks, network)?.assets ?? []
  return assets.some((asset) => (symbol === null ? assetCode(asset.key) === code : asset.symbol === symbol))
}

function report({ by, network, symbol, code, count, example }: AssetUsage): string {
  return `${count} ${by} use the asset ${symbol ?? code} of network ${network}, which is missing from the settings (for example ${example})`
}

type WebhookLoopDeps = {
  db: ServiceDatabase
  vault: SecretVault
  settings: DepositServiceSettings
  faults: Faults
  log: Logger
}

/** The lease of a delivery is longer than twice this. */
const timeoutMs = 15_000

async function startWebhooks({ db, vault, settings, faults, log }: WebhookLoopDeps): Promise<Loop> {
  const { webhooks, allowPrivateWebhooks: allowPrivate, pollEveryMs: everyMs } = settings
  await applyEndpoints({ db, vault, now }, webhooks)
  const poster = openPoster({ allowPrivate, timeoutMs })
  const onRoom = () => loop.wake()
  const courier = openCourier({ db, vault, poster, faults, now, random: Math.random, onRoom, log })
  const loop = startLoop({ name: 'webhooks', everyMs, log }, async (stopping) => {
    await courier.turn(stopping)
    return false
  })
  return {
    wake: () => loop.wake(),
    stop: async () => {
      await loop.stop()
      await courier.idle()
      poster.close()
    },
  }
}

function now(): Date {
  return new Date()
}
