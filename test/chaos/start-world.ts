import { mkdirSync } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from 'pg'
import { transfersPath } from '../../src/intake/server.ts'
import { freePort, loopback } from '../../src/sandbox/free-port.ts'
import { sandboxSecrets } from '../../src/sandbox/sandbox-service.ts'
import type { SandboxSecrets } from '../../src/sandbox/service-files.ts'
import { liquidityAddresses } from '../../src/service/keyring/keyring.ts'
import { keepChanges } from '../oracle/hold.ts'
import { createDaemonGroup, usualRoles } from './daemon-group.ts'
import { startEventReaders } from './events/event-readers.ts'
import { endLeftovers, ownFolder, worldPrefix } from './leftover.ts'
import { createOwners } from './owners.ts'
import { createPayer } from './payments.ts'
import { sendWaitingNow, untilAtRest } from './rest.ts'
import { startServiceProcess } from './service-process.ts'
import { behindProxy, databases, networksBehindProxies, startServers } from './start-servers.ts'
import { startTcpProxy } from './tcp-proxy.ts'
import type { ChaosNetwork, ChaosWorld } from './world.ts'
import { writeWorldSettings } from './world-settings.ts'

export type WorldChoices = {
  backend: ChaosWorld['backend']
  /** A line for who watches; nobody by default. */
  say?: (line: string) => void
}

/**
 * Starts everything that is real about a deposit, each part as a process and the daemons behind proxies, with owners to be
 * paid and nothing paid yet.
 * @param stack is given how to end each part.
 */
export async function startChaosWorld(
  { backend, say = () => undefined }: WorldChoices,
  stack: AsyncDisposableStack,
): Promise<ChaosWorld> {
  for (const left of await endLeftovers()) say(`ended what a killed run left in ${left}`)
  const folder = await mkdtemp(worldPrefix())
  await chmod(folder, 0o711)
  ownFolder(folder)
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  const servers = await startServers(folder, backend, stack)
  const databaseUrl = servers.postgres.url(databases.daemon)
  const serviceDatabaseUrl = servers.servicePostgres.url(databases.service)
  const networks = await networksBehindProxies(servers.chains, stack)
  const postgres = await behindProxy(databaseUrl, servers.postgres, stack)
  const redis = servers.redis && (await behindProxy(servers.redis.url, servers.redis, stack))

  const secrets = sandboxSecrets(folder)
  // Which port is behind it is known once a process takes webhooks.
  const places = { httpPort: () => 0 }
  const path = `http://${loopback}:${await freePort()}${transfersPath}`
  const intake = stack.use(await startTcpProxy({ url: path, port: () => places.httpPort() }))
  const service = await startServiceProcess({
    networks,
    secrets,
    databaseUrl: serviceDatabaseUrl,
    webhookUrl: intake.url,
  })
  stack.defer(() => service.kill())
  const serviceProxy = stack.use(await startTcpProxy({ url: service.url }))

  const settingsOf = settingsIn({ folder, secrets, networks })
  const straight = settingsOf('straight', {
    database: databaseUrl,
    queue: redis?.url ?? null,
    service: service.url,
    rpc: ({ url }) => url,
  })
  const environment = settingsOf('proxied', {
    database: postgres.proxy.url,
    queue: redis?.proxy.url ?? null,
    service: serviceProxy.url,
    rpc: ({ proxy }) => proxy.url,
  })
  const daemons = createDaemonGroup(environment, folder)
  stack.defer(() => daemons.end())
  places.httpPort = () => daemons.portOf('HTTP_PORT')
  const [first, ...others] = usualRoles
  await daemons.start(first)
  const owners = await createOwners(
    straight,
    networks.map(({ name }) => name),
  )
  const connect = () => connectTo(databaseUrl)
  const client = await connect()
  await keepChanges(client)
  await client.end()
  const apiPort = () => daemons.portOf('API_PORT')
  const events = await startEventReaders({ environment, folder, apiPort, connect }, stack)
  await Promise.all(others.map((roles) => daemons.start(roles)))

  const payer = createPayer(
    networks.map(({ sandbox }) => sandbox),
    owners,
  )
  const looked = { databaseUrl, serviceDatabaseUrl, networks, paid: () => payer.paid }
  const proxies = [postgres.proxy, redis?.proxy, serviceProxy, intake, ...networks.map(({ proxy }) => proxy)]
  return {
    backend,
    connect,
    databaseUrl,
    serviceDatabaseUrl,
    environment,
    straight,
    folder,
    postgres: Object.assign(postgres, { setClock: servers.postgres.setClock }),
    redis,
    service: { url: service.url, proxy: serviceProxy, faults: service.faults },
    networks,
    intake: { url: intake.url, proxy: intake, secret: secrets.webhookSecret },
    daemons: daemons.all,
    start: daemons.start,
    async recover() {
      for (const proxy of proxies) proxy?.heal()
      await Promise.all([service.faults.clear(), postgres.start(), redis?.start()])
      await daemons.restore()
      await sendWaitingNow(serviceDatabaseUrl)
      events.recover()
    },
    events,
    owners,
    pay: payer.pay,
    paid: payer.paid,
    untilAtRest: () => untilAtRest(looked),
    say,
  }
}

type Places = {
  database: string
  queue: string | null
  service: string
  rpc: (network: ChaosNetwork) => string
}
type Known = { folder: string; secrets: SandboxSecrets; networks: readonly ChaosNetwork[] }

function settingsIn({ folder, secrets, networks }: Known) {
  const senders = liquidityAddresses(secrets)
  return (name: string, { database, queue, service, rpc }: Places): Record<string, string> => {
    const own = join(folder, name)
    mkdirSync(own)
    const environment = writeWorldSettings({
      folder: own,
      databaseUrl: database,
      serviceUrl: service,
      apiKey: secrets.writeKey,
      webhookSecret: secrets.webhookSecret,
      networks: networks.map((network) => ({ ...network.sandbox, rpcUrls: [rpc(network)] })),
      senders: Object.fromEntries(
        networks.map(({ name: network, sandbox }) => [network, [senders[sandbox.family]]]),
      ),
      // Each process gets ports of its own in the place of these.
      httpPort: 8080,
      opsPort: 9464,
    })
    return { ...environment, ...(queue !== null && { QUEUE_URL: queue }) }
  }
}

async function connectTo(url: string): Promise<Client> {
  const client = new Client({ connectionString: url })
  // A server that goes away must not end the run; whoever uses the connection hears of it.
  client.on('error', () => undefined)
  await client.connect()
  return client
}
