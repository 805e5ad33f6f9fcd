import { readFileSync, writeFileSync } from 'node:fs'
import { parse, stringify } from 'yaml'
import { parseSettings, type Settings } from '../../src/config/settings.ts'
import { byProgram } from '../../src/core/address-book.ts'
import { checkImport } from '../../src/jobs/import-owners.ts'
import { freePort } from '../../src/sandbox/free-port.ts'
import { writeSettings } from '../../src/sandbox/settings-files.ts'
import { liquidityAddresses } from '../../src/service/keyring/keyring.ts'
import { type Database, inTransaction, openDatabase } from '../../src/store/database.ts'
import { keepOwners } from '../../src/store/owners.ts'
import type { Tables } from '../../src/store/tables.ts'
import { type EmbeddedProgram, spawnProgram } from '../support/embedded-program.ts'
import { until } from '../support/until.ts'
import { type CallCounter, countCalls } from './count-calls.ts'
import type { HistoryChoices, HistoryGround } from './ground.ts'
import { onboardingSettings } from './onboard-year.ts'

/**
 * `rate`: calls per second to each node. `kills`: of the daemon, evenly over the history. `isOnboarded`: the service is
 * connected by the command `onboard`, not by settings and an import.
 */
export type MeasureChoices = Omit<HistoryChoices, 'webhookUrl'> & {
  rate: number
  kills: number
  isOnboarded: boolean
}

/** A daemon beside the ground, whose calls to nodes and service are counted. */
export type MeasuredWorld = {
  choices: MeasureChoices
  ground: HistoryGround
  db: Database<Tables>
  settings: Settings
  environment: Record<string, string>
  counters: ReadonlyMap<string, CallCounter>
  say: (line: string) => void
}

export async function connect(
  { httpPort, ...given }: Pick<MeasuredWorld, 'choices' | 'ground' | 'say'> & { httpPort: number },
  stack: AsyncDisposableStack,
): Promise<MeasuredWorld> {
  const { choices, ground } = given
  const counters = new Map<string, CallCounter>()
  for (const { name, rpcUrls } of ground.networks)
    counters.set(name, stack.use(await countCalls(rpcUrls[0] ?? '')))
  const service = stack.use(await countCalls(ground.service.url))
  counters.set('service', service)
  const senders = liquidityAddresses(ground.service.secrets)
  const environment = writeSettings({
    folder: choices.folder,
    databaseUrl: ground.postgres.url('depositd'),
    serviceUrl: service.url,
    apiKey: ground.service.secrets.readKey,
    webhookSecret: ground.service.secrets.webhookSecret,
    networks: ground.networks.map((one) => ({ ...one, rpcUrls: [counters.get(one.name)?.url ?? ''] })),
    senders: Object.fromEntries(ground.networks.map(({ name, family }) => [name, [senders[family]]])),
    httpPort,
    opsPort: await freePort(),
    policy: patience,
  })
  const path = environment.DEPOSITD_CONFIG ?? ''
  const file = parse(readFileSync(path, 'utf8')) as { networks: Record<string, unknown>[] }
  for (const network of file.networks) delete network.startHeight
  writeFileSync(path, stringify({ ...file, history: { requestsPerSecond: choices.rate } }))
  if (choices.isOnboarded) {
    delete environment.SIGNING_KEY_FILE
    Object.assign(environment, onboardingSettings(choices.folder, ground))
  }
  const settings = parseSettings(environment, (name) => readFileSync(name, 'utf8'))
  const db = openDatabase<Tables>({
    url: environment.DATABASE_URL ?? '',
    poolMax: 2,
    applicationName: 'history',
  })
  stack.defer(() => db.destroy())
  const world = { ...given, db, settings, environment, counters }
  switchService(world, true)
  return world
}

/** As for a real service. */
const patience = {
  chainWithin: '1h',
  reportWithin: '1h',
  settlementWithin: '1h',
  webhookWithin: '1h',
  apiWithin: '1h',
}

export function switchService({ environment }: Pick<MeasuredWorld, 'environment'>, paused: boolean): void {
  const path = environment.DEPOSITD_CONFIG ?? ''
  const file = parse(readFileSync(path, 'utf8')) as { service?: object }
  writeFileSync(path, stringify({ ...file, service: { ...file.service, paused } }))
}

export async function startMeasured(
  { choices, environment }: MeasuredWorld,
  stack: AsyncDisposableStack,
): Promise<EmbeddedProgram> {
  const program = spawnProgram(choices.folder, ['start'], { ...environment, LOG_LEVEL: 'warn' })
  stack.defer(() => program.end('SIGKILL').then(() => undefined))
  let hasEnded = false
  void program.ended.then(() => (hasEnded = true))
  await until(
    'the daemon is up',
    async () => {
      if (hasEnded) throw new Error(program.output())
      const url = `http://127.0.0.1:${environment.OPS_PORT ?? ''}/livez`
      return (await fetch(url).catch(() => null))?.ok || null
    },
    60_000,
  )
  return program
}

export async function importBook({ db, ground, settings }: MeasuredWorld, since: Date): Promise<void> {
  const rows = ground.addresses.map(({ owner, network, address, forward }, place) => ({
    line: place + 1,
    id: owner,
    network,
    address,
    forward,
    createdAt: since,
  }))
  const checked = await checkImport({ db, networks: settings.networks }, { kind: 'channel', rows })
  if (checked.kind === 'refused') throw new Error(JSON.stringify(checked))
  await inTransaction(db, (tx) => keepOwners(tx, checked.entries, byProgram))
}
