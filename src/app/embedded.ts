import { readFileSync } from 'node:fs'
import type { Logger } from 'pino'
import { EnvironmentReader } from '../config/environment.ts'
import { originOfConsole } from '../config/environment-settings.ts'
import { secretsOf } from '../config/secrets-of.ts'
import { parseSettings, type Settings } from '../config/settings.ts'
import { Fault } from '../core/errors.ts'
import { roles } from '../health.ts'
import { transfersPath } from '../intake/server.ts'
import { addFirstPerson } from '../jobs/people/procedures.ts'
import { signInLink } from '../jobs/people/sign-in.ts'
import { createChannel, createStableWallet, type ProvisionDeps } from '../jobs/provision.ts'
import type { SecretRedactor } from '../log/hide-secrets.ts'
import { signerOf } from '../people/decision.ts'
import { connectOwners } from '../provider/owners-client.ts'
import { type Chains, type OnPart, timed } from '../sandbox/chains.ts'
import { demoOwners, startDemoService, startTraffic, type TrafficTarget } from '../sandbox/demo.ts'
import { freePort, loopback } from '../sandbox/free-port.ts'
import { databases, startGround } from '../sandbox/ground.ts'
import type { PostgresServer } from '../sandbox/postgres.ts'
import { sandboxSecrets } from '../sandbox/sandbox-service.ts'
import { writeServiceFiles } from '../sandbox/service-files.ts'
import { firstSigner, writeSettings } from '../sandbox/settings-files.ts'
import { liquidityAddresses } from '../service/keyring/keyring.ts'
import type { DepositService } from '../service/service.ts'
import { type Database, openDatabase } from '../store/database.ts'
import { summarise } from '../store/gauges.ts'
import type { Tables } from '../store/tables.ts'
import { type Daemon, startDaemon } from './daemon.ts'
import { loadServiceProfile } from './service-profile.ts'

export type EmbeddedOptions = {
  /** Created if missing. */
  folder: string
  version: string
  /** Only the ports, the log level and the settings of the API and of tracing apply. */
  environment: Readonly<Record<string, string | undefined>>
  log: Logger
  /** No line of the log contains a secret of the settings. */
  hidden: SecretRedactor
  onPart: OnPart
  trafficEveryMs: number
}

export type EmbeddedDaemon = {
  daemon: Daemon
  db: Database<Tables>
  /** Signs the first person in, once. */
  signInUrl: string
  stop: () => Promise<void>
}

/** @throws Fault `usage_bad` if another process uses the folder, `remote_failed` if a component does not start */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedDaemon> {
  const { log, onPart } = options
  await using starting = new AsyncDisposableStack()
  const { postgres, chains, service, ports } = await startWorld(options, starting)
  const settings = settingsOf(options, { postgres, chains, service, ports })
  options.hidden.add(secretsOf(settings))
  const daemon = await timed(onPart, 'daemon', async () => {
    const started = await startDaemon(settings, { ...options, roles, isEmbedded: true })
    starting.defer(() => started.stop())
    onPart({ part: 'console', address: `${started.opsUrl}/`, milliseconds: 0 })
    onPart({ part: 'metrics', address: `${started.opsUrl}/metrics`, milliseconds: 0 })
    return { part: started, address: started.webhookUrl ?? '' }
  })
  const db = openDatabase<Tables>({
    url: settings.databaseUrl,
    poolMax: 2,
    applicationName: 'depositd screen',
  })
  starting.defer(() => db.destroy())
  const first = signerOf(firstSigner(options.folder))
  await addFirstPerson(db, first)
  const origin = originOfConsole(settings.links, Number(new URL(daemon.opsUrl).port))
  const signInUrl = `${origin}/sign-in/${await signInLink(db, first.person)}`
  const targets = await provision(settings, { db, networks: settings.networks })
  const traffic = startTraffic({
    networks: chains.networks,
    targets,
    everyMs: options.trafficEveryMs,
    faults: service.faults,
    countSettled: async () => {
      const { states } = await summarise(db)
      return states
        .filter(({ state }) => state === 'settled' || state === 'reconciled')
        .reduce((sum, { count }) => sum + count, 0)
    },
    log,
  })
  starting.defer(() => traffic.stop())
  const running = starting.move()
  return { daemon, db, signInUrl, stop: () => running.disposeAsync() }
}

type World = { postgres: PostgresServer; chains: Chains; service: DepositService; ports: EmbeddedPorts }

async function startWorld(options: EmbeddedOptions, starting: AsyncDisposableStack): Promise<World> {
  const { folder, environment, log, onPart } = options
  const { postgres, chains } = await startGround(options, starting)
  const ports = await choosePorts(environment)
  const { networks } = chains
  const secrets = sandboxSecrets(folder)
  const databaseUrl = postgres.url(databases.service)
  const service = await timed(onPart, 'service', async () => {
    const webhookUrl = `http://${loopback}:${ports.httpPort}${transfersPath}`
    const part = await startDemoService({ networks, secrets, databaseUrl, webhookUrl, log })
    starting.defer(() => part.stop())
    return { part, address: part.url }
  })
  writeServiceFiles(folder, { url: service.url, databaseUrl, adminUrl: null, networks, secrets })
  return { postgres, chains, service, ports }
}

function settingsOf(
  { folder, environment }: EmbeddedOptions,
  { postgres, chains, service, ports }: World,
): Settings {
  const secrets = sandboxSecrets(folder)
  const senders = liquidityAddresses(secrets)
  const written = writeSettings({
    folder,
    databaseUrl: postgres.url(databases.daemon),
    serviceUrl: service.url,
    apiKey: secrets.writeKey,
    webhookSecret: secrets.webhookSecret,
    networks: chains.networks,
    senders: Object.fromEntries(chains.networks.map(({ name, family }) => [name, [senders[family]]])),
    ...ports,
  })
  return parseSettings({ ...written, ...usedIn(environment) }, (path) => readFileSync(path, 'utf8'))
}

function usedIn(environment: EmbeddedOptions['environment']): EmbeddedOptions['environment'] {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => /^(OTEL_|API_)/.test(name)))
}

type EmbeddedPorts = { httpPort: number; opsPort: number }

/** Uses the usual ports if they are free and the environment sets no others. */
async function choosePorts(environment: EmbeddedOptions['environment']): Promise<EmbeddedPorts> {
  const reader = new EnvironmentReader(environment)
  const choose = async (name: string, usual: number): Promise<number> =>
    reader.optional(name) === undefined ? freePort(usual) : reader.port(name, usual)
  const ports = { httpPort: await choose('HTTP_PORT', 8080), opsPort: await choose('OPS_PORT', 9464) }
  if (reader.faults.length > 0) throw new Fault('settings_bad', { faults: reader.faults })
  return ports
}

/** @returns the deposit addresses */
async function provision(settings: Settings, deps: Omit<ProvisionDeps, 'owners'>): Promise<TrafficTarget[]> {
  const [service] = settings.services
  const all = { ...deps, owners: connectOwners(service, loadServiceProfile(settings, service)) }
  const { channels, wallet } = await demoOwners()
  const entries = [
    ...(await Promise.all(channels.map((channel) => createChannel(all, channel)))),
    await createStableWallet(all, wallet),
  ]
  return entries.flatMap(({ deposits }) => deposits)
}
