import assert from 'node:assert/strict'
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import { type Address, parseAddress } from '../../src/core/asset.ts'
import { parseAmount } from '../../src/core/money.ts'
import { makeSigningKey } from '../../src/ledger/checkpoint.ts'
import { type SandboxNetwork, startChains } from '../../src/sandbox/chains.ts'
import { startDemoService } from '../../src/sandbox/demo.ts'
import { loopback } from '../../src/sandbox/free-port.ts'
import { startPostgres } from '../../src/sandbox/postgres.ts'
import { sandboxSecrets } from '../../src/sandbox/sandbox-service.ts'
import type { SandboxSecrets } from '../../src/sandbox/service-files.ts'
import { writeSettings } from '../../src/sandbox/settings-files.ts'
import { liquidityAddresses } from '../../src/service/keyring/keyring.ts'
import { root } from '../docs/pages.ts'
import { makeSecret, signStandardWebhook } from '../support/sign-webhook.ts'
import { until } from '../support/until.ts'
import { composeIn } from './composed.ts'
import type { Image } from './container.ts'
import { step } from './step.ts'

/** Runs the compose file, in a network that only this process and its children have. Started by run.ts with an empty folder and the image. */

const intake = `http://${loopback}:8080/webhooks/transfers`
const recipient = '0x00000000000000000000000000000000000075a1'
const daemons = ['depositd-http', 'depositd-worker']
/** What setup made at the first start, by path. */
let first = new Map<string, string>()

const [folder = '', image = ''] = process.argv.slice(2)
await using stack = new AsyncDisposableStack()
const { network, secrets } = await startOutside()
const composition = await step('docker-compose config', () => composeIn(folder, JSON.parse(image) as Image))
assert.ok(composition)
const { services, up, down, check } = composition
// All containers share one network here, in which both daemons cannot have the same port.
Object.assign(services['depositd-worker']?.environment ?? {}, { OPS_PORT: '9465' })
stack.defer(() => down().then(() => undefined))

await step('setup makes passwords and prints none', setUp)
await startAll()
await step('user, capabilities and root file system of each container', confine)
await step('a signed webhook is taken, another one is not', sendWebhooks)
const address = await step('a channel is created by the command in the container', createChannel)
await step('a deposit is booked', () => pay(1))
await step('SIGTERM ends every container in time', stop)
await step('setup keeps the passwords', keepPasswords)
await startAll()
await step('the second start goes on with the same books', () => pay(2))
await step('SIGTERM ends every container in time', stop)

/** The deposit service and a chain, and the four settings that an operator makes, with a file that describes the local chain. */
async function startOutside(): Promise<{ network: SandboxNetwork; secrets: SandboxSecrets }> {
  const log = pino({ level: 'silent' })
  for (const name of ['docker-compose.yml', 'db', 'docs', 'grafana'])
    cpSync(join(root, name), join(folder, name), { recursive: true })
  const settings = join(folder, 'settings')
  const outside = join(folder, 'outside')
  for (const path of [settings, outside]) mkdirSync(path)
  const chains = await startChains({ folder: outside, names: ['base'], blockMs: 200, log })
  stack.defer(() => chains.stop())
  const postgres = await startPostgres({
    folder: join(outside, 'postgres'),
    port: 15_432,
    durability: 'none',
    log,
  })
  stack.defer(() => postgres.stop())
  await postgres.createDatabase('service')
  const own = sandboxSecrets(outside)
  const { networks } = chains
  const place = { secrets: own, databaseUrl: postgres.url('service'), webhookUrl: intake }
  const service = await startDemoService({ ...place, networks, log })
  stack.defer(() => service.stop())
  service.faults.set({ dropWebhookRate: 0, shortForwardRate: 0 })
  const { RPC_BASE: rpc } = writeSettings({
    folder: settings,
    databaseUrl: '',
    serviceUrl: service.url,
    apiKey: own.writeKey,
    webhookSecret: own.webhookSecret,
    networks,
    senders: { base: [liquidityAddresses(own).evm] },
    httpPort: 8080,
    opsPort: 9464,
  })
  const lines = {
    SERVICE_URL: service.url,
    SERVICE_API_KEY: own.writeKey,
    WEBHOOK_SECRETS: own.webhookSecret,
    RPC_BASE: rpc,
    DEPOSITD_CONFIG: '/etc/depositd/embedded.yaml',
  }
  const text = Object.entries(lines).map(([name, value]) => `${name}=${value}\n`)
  writeFileSync(join(folder, '.env'), text.join(''))
  const [base] = networks
  assert.ok(base)
  return { network: base, secrets: own }
}

/** Every file that setup made, by its path, without the configuration of Alertmanager. */
function madeSecrets(): Map<string, string> {
  const volumes = join(folder, 'volumes')
  const names = readdirSync(volumes).filter((name) => name.startsWith('secrets-'))
  const paths = names.flatMap((name) =>
    readdirSync(join(volumes, name)).map((file) => join(volumes, name, file)),
  )
  const kept = paths.filter((path) => !path.endsWith('.yml'))
  return new Map(kept.map((path) => [path, readFileSync(path, 'utf8')]))
}

async function setUp(): Promise<void> {
  const container = await up('setup')
  assert.equal(await container.ended, 0, container.output())
  first = madeSecrets()
  assert.equal(first.size, 12)
  for (const value of first.values()) assert.ok(!container.output().includes(value))
}

async function keepPasswords(): Promise<void> {
  assert.equal(await (await up('setup')).ended, 0)
  assert.deepEqual(madeSecrets(), first)
}

/** Each service after those that it depends on; its health check is run as it is written. */
async function startAll(): Promise<void> {
  for (const name of Object.keys(services)) {
    const isOneShot = Object.values(services).some(
      ({ depends_on: depends }) => depends[name]?.condition === 'service_completed_successfully',
    )
    if (isOneShot)
      await step(`${name} ends with 0`, async () => assert.equal(await (await up(name)).ended, 0))
    else await step(`health check of ${name}`, () => check(name))
  }
}

/** What Docker is asked to take away is gone: asked of the kernel and tried, in the container. */
async function confine(): Promise<void> {
  for (const name of Object.keys(services)) {
    const container = await up(name).catch(() => null)
    if (container === null || ['setup', 'depositd-migrate'].includes(name)) continue
    const { output: status } = await container.exec('cat', '/proc/1/status')
    assert.match(status, /^Uid:\t(?!0\t)(\d+)\t\1\t\1\t\1$/m, name)
    for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb'])
      assert.match(status, new RegExp(`^${set}:\\t0{16}$`, 'm'), name)
    assert.match(status, /^NoNewPrivs:\t1$/m, name)
    const { output: mounts } = await container.exec('cat', '/proc/1/mounts')
    assert.match(mounts, /^\S+ \/ \S+ ro[, ]/m, name)
  }
  for (const name of daemons) {
    const container = await up(name)
    for (const path of ['/refused', '/app/src/refused', '/run/secrets/refused', '/home/node/refused']) {
      const { status, output } = await container.exec('sh', '-c', `echo > ${path}`)
      assert.ok(status !== 0 && output.includes('Read-only file system'), `${name} ${path}: ${output}`)
    }
    assert.equal((await container.exec('sh', '-c', 'echo > /tmp/written')).status, 0)
    assert.equal((await container.exec('ls', '/run/secrets')).output, 'database_url\nops_token\n')
  }
}

async function sendWebhooks(): Promise<void> {
  const body = Buffer.from(JSON.stringify({ id: 'evt_image', type: 'image.test', data: {} }))
  const send = async (secret: string): Promise<number> => {
    const signature = signStandardWebhook({ secret, id: 'evt_image', body, at: new Date() })
    const headers = { 'content-type': 'application/json', ...signature }
    return (await fetch(intake, { method: 'POST', headers, body })).status
  }
  assert.equal(await send(secrets.webhookSecret), 202)
  assert.equal(await send(makeSecret()), 401)
}

/** A command as the docs have it: docker compose exec depositd-worker depositd ... */
async function depositd(line: string, environment: readonly string[] = []): Promise<string> {
  const worker = await up('depositd-worker')
  const { status, output } = await worker.exec('env', ...environment, 'depositd', ...line.split(' '))
  assert.equal(status, 0, `depositd ${line}: ${output}\n${worker.output().slice(-2000)}`)
  return output
}

async function createChannel(): Promise<Address> {
  const { text } = makeSigningKey('ana', 'log')
  const login = first.get(join(folder, 'volumes/secrets-people/database_url'))
  const asAna = [`SIGNING_KEY=${text}`, `DECISIONS_DATABASE_URL=${login}`]
  await depositd('people add ana --roles administrator,operator', asAna)
  const create = `channels create shop --network base --asset USDC --recipient ${recipient}`
  const said = await depositd(create, asAna)
  const [created] = said.match(/0x[0-9a-fA-F]{40}/g)?.filter((one) => one.toLowerCase() !== recipient) ?? []
  return parseAddress('evm', created ?? said)
}

/** Pays, and waits until the webhook came and everything is booked; in the end there are that many such deposits. */
async function pay(count: number): Promise<void> {
  const asset = network.assets.find(({ symbol }) => symbol === 'USDC')
  assert.ok(asset && address)
  await network.pay({ asset: asset.key, to: address, amount: parseAmount('12.5', asset.decimals) })
  const postgres = await up('postgres')
  const booked = `select count(*) from deposit where state = 'reconciled' and webhook_at is not null
    and exists (select from ledger_journal where posting_key like 'deposit/base/' || deposit.tx || '/%')`
  const psql = [
    'psql',
    '--host=127.0.0.1',
    '--username=depositd',
    '--tuples-only',
    '--no-align',
    `--command=${booked}`,
  ]
  const password = first.get(join(folder, 'volumes/secrets-postgres/postgres_password'))
  await until(
    `${count} booked deposits`,
    async () => {
      const { output } = await postgres.exec('env', `PGPASSWORD=${password}`, ...psql)
      return output.trim() === String(count) ? true : null
    },
    60_000,
  )
  await depositd('ledger verify')
  await depositd('rebuild --verify')
}

async function stop(): Promise<void> {
  const statuses = await down()
  const failed = Object.entries(statuses).filter(([, status]) => status !== 0)
  assert.deepEqual(failed, [])
}
