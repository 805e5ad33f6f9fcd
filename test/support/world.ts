import { readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Logger, pino } from 'pino'
import { parse, stringify } from 'yaml'
import { type Daemon, startDaemon } from '../../src/app/daemon.ts'
import { loadServiceProfile } from '../../src/app/service-profile.ts'
import { parseSettings, type Settings } from '../../src/config/settings.ts'
import type { OwnerEntry } from '../../src/core/address-book.ts'
import { parseAmount } from '../../src/core/money.ts'
import { roles } from '../../src/health.ts'
import { createChannel, createStableWallet } from '../../src/jobs/provision.ts'
import { connectOwners } from '../../src/provider/owners-client.ts'
import { type Chains, type SandboxNetwork, startChains } from '../../src/sandbox/chains.ts'
import { type DemoChannel, demoOwners, startDemoService } from '../../src/sandbox/demo.ts'
import { freePort, loopback } from '../../src/sandbox/free-port.ts'
import { sandboxSecrets } from '../../src/sandbox/sandbox-service.ts'
import { writeSettings } from '../../src/sandbox/settings-files.ts'
import type { FaultSettings } from '../../src/service/faults/faults.ts'
import { liquidityAddresses } from '../../src/service/keyring/keyring.ts'
import type { DepositService } from '../../src/service/service.ts'
import { type Database, openDatabase } from '../../src/store/database.ts'
import type { Tables } from '../../src/store/tables.ts'
import { addPeople, signingKeys } from './people.ts'
import { emptyDatabase, type TestDatabase, testDatabase } from './postgres.ts'

const log = pino({ level: 'silent' })

export type World = {
  db: Database<Tables>
  service: DepositService
  /** The service's own database, for what only its delivery log and its transfers tell. */
  serviceDatabaseUrl: string
  daemon: Daemon
  settings: Settings
  /** The environment by which another process of the program reaches the same servers. */
  environment: Record<string, string>
  networks: readonly SandboxNetwork[]
  owners: readonly OwnerEntry[]
  /** Pays to the deposit address of `owner` on that network, in units of the asset. */
  pay: (payment: { network: string; symbol: string; owner: string; amount: string }) => Promise<string>
}

export type WorldSettings = {
  queueUrl?: string
  /** Shares of the deposits that the service gets wrong; none by default. */
  faults?: Partial<FaultSettings>
  /** All four by default. */
  networks?: readonly string[]
  /** Other deadlines than those of the sandbox, and rules that it has none of. */
  policy?: Readonly<Record<string, unknown>>
  /** Channels beside those of the demonstration. */
  channels?: readonly DemoChannel[]
  /** How many channels there are beside those of the demonstration, each forwarding as one of them does. */
  moreChannels?: number
  /** Sections of the settings file beside those of the sandbox; of its schedule, other times for some jobs. */
  sections?: (webhookUrl: string) => { schedule?: Partial<Settings['schedule']> & { pollQuiet?: string } }
  /** Where its databases are made; on the server of the test run by default. */
  makeDatabase?: () => Promise<TestDatabase>
  /** Settings of the daemon beside those that the world needs. */
  environment?: Readonly<Record<string, string>>
  /** What the daemon logs goes here; nowhere by default. */
  daemonLog?: Logger
}

/** Everything that is real about a deposit, on fast local chains: chains, service, daemon, books. */
export async function startWorld(
  { faults, networks: names, channels = [], moreChannels = 0, ...asked }: WorldSettings,
  stack: AsyncDisposableStack,
): Promise<World> {
  const { queueUrl, policy, sections, makeDatabase, daemonLog = log } = asked
  const folder = await mkdtemp(join(tmpdir(), 'depositd-world-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  const [ours, theirs] = await makeDatabases(makeDatabase)
  stack.defer(() => Promise.all([ours.drop(), theirs.drop()]).then(() => undefined))
  const pace = { blockMs: 200, slotMs: 100, ...(names && { names }) }
  const chains = await startChains({ folder: join(folder, 'chains'), ...pace, log })
  stack.defer(() => chains.stop())
  const ports = { httpPort: await freePort(), opsPort: await freePort() }
  const webhookUrl = `http://${loopback}:${ports.httpPort}/webhooks/transfers`
  const secrets = sandboxSecrets(folder)
  const service = await startDemoService({
    networks: chains.networks,
    port: 0,
    secrets,
    databaseUrl: theirs.url,
    webhookUrl,
    log,
  })
  stack.defer(() => service.stop())
  service.faults.set({ dropWebhookRate: 0, shortForwardRate: 0, ...faults })

  const senders = liquidityAddresses(secrets)
  const environment = writeSettings({
    folder,
    databaseUrl: ours.url,
    serviceUrl: service.url,
    apiKey: secrets.writeKey,
    webhookSecret: secrets.webhookSecret,
    networks: chains.networks,
    senders: Object.fromEntries(chains.networks.map(({ name, family }) => [name, [senders[family]]])),
    ...ports,
    ...(policy && { policy }),
  })
  const { SIGNING_KEY_FILE: _own, ...others } = environment
  const whole = {
    ...others,
    ...signingKeys.erin,
    ...(queueUrl !== undefined && { QUEUE_URL: queueUrl }),
    ...asked.environment,
  }
  addSections(environment.DEPOSITD_CONFIG ?? '', sections?.(webhookUrl) ?? {})
  const settings = parseSettings(whole, (path) => readFileSync(path, 'utf8'))
  const watched = { log: daemonLog, gaugesKeptMaxMs: 1000 }
  const daemon = await startDaemon(settings, { roles, version: 'test', ...watched })
  stack.defer(() => daemon.stop())
  const db = openDatabase<Tables>({ url: ours.url, poolMax: 4, applicationName: 'test' })
  stack.defer(() => db.destroy())
  await addPeople(db)
  const owners = await provision(settings, db, { channels, more: moreChannels })
  const { networks } = chains
  const places = { serviceDatabaseUrl: theirs.url, environment: whole }
  return { db, service, daemon, settings, ...places, networks, owners, pay: payer(chains, owners) }
}

/** One for the daemon, which finds its schema there as at most starts, and one for the service. */
async function makeDatabases(make: WorldSettings['makeDatabase']): Promise<[TestDatabase, TestDatabase]> {
  return [await (make ?? testDatabase)(), await (make ?? emptyDatabase)()]
}

/** The service is polled as often while no deposit is young: every test would wait up to a minute for what it lists. */
const evenPace = { pollQuiet: '2s' }

function addSections(path: string, sections: { schedule?: object }): void {
  const file = parse(readFileSync(path, 'utf8')) as { schedule: object }
  const schedule = { ...file.schedule, ...evenPace, ...sections.schedule }
  writeFileSync(path, stringify({ ...file, ...sections, schedule }))
}

type Wanted = { channels: readonly DemoChannel[]; more: number }

async function provision(
  settings: Settings,
  db: Database<Tables>,
  { channels: others, more }: Wanted,
): Promise<OwnerEntry[]> {
  const [service] = settings.services
  const deps = {
    db,
    networks: settings.networks,
    owners: connectOwners(service, loadServiceProfile(settings, service)),
  }
  const { channels, wallet } = await demoOwners()
  const known = new Set<string>(settings.networks.map(({ name }) => name))
  const usable = channels.filter(({ forwardNetwork }) => known.has(forwardNetwork))
  const created = await Promise.all([...usable, ...others].map((channel) => createChannel(deps, channel)))
  for (let place = 0; place < more; place++) {
    const like = usable[place % usable.length]
    if (like !== undefined) created.push(await createChannel(deps, { ...like, id: `${like.id}-${place}` }))
  }
  return [...created, await createStableWallet(deps, wallet)]
}

export function payer({ networks }: Pick<Chains, 'networks'>, owners: readonly OwnerEntry[]): World['pay'] {
  return async ({ network: name, symbol, owner, amount }) => {
    const network = networks.find((one) => one.name === name)
    const asset = network?.assets.find((one) => one.symbol === symbol)
    const entry = owners.find((one) => one.owner.id === owner)
    const to = entry?.deposits.find((one) => one.network === name)?.address
    if (!network || !asset || !to) throw new Error(`nothing to pay: ${name} ${symbol} ${owner}`)
    return network.pay({ asset: asset.key, to, amount: parseAmount(amount, asset.decimals) })
  }
}
