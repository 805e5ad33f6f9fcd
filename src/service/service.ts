import type { Logger } from 'pino'
import { Fault } from '../core/errors.ts'
import { checkNamedAssets } from './check-named-assets.ts'
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
import { describeError } from './running/describe-error.ts'
import { openServiceDatabase } from './service-database.ts'
import { checkSettings, type DepositServiceSettings } from './settings.ts'
import { openStream } from './streams.ts'
import { startTransfers } from './transfers/start-transfers.ts'
import { openOutbox } from './webhooks/outbox.ts'
import { openVault } from './webhooks/secret-vault.ts'
import { startWebhooks } from './webhooks/start-webhooks.ts'

export type DepositService = {
  url: string
  /** Errors it is told to make, switchable while it runs. */
  faults: Faults
  /** Where they are switched from outside; null where there is no such port. */
  faultsUrl: string | null
  /** Ends what is under way, and returns when nothing of it is left. */
  stop(): Promise<void>
}

const poolMax = 12

/**
 * Starts the deposit service: it answers the API, watches its addresses on the chains, forwards and credits what
 * arrives and sends the webhooks. The chains must be there.
 * @throws Fault `settings_bad`, `remote_failed`
 */
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
