import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { startDaemon } from '../../src/app/daemon.ts'
import { loadServiceProfile } from '../../src/app/service-profile.ts'
import { createSettingsReader } from '../../src/config/settings.ts'
import { roles } from '../../src/health.ts'
import { createChannel, createStableWallet } from '../../src/jobs/provision.ts'
import { connectOwners } from '../../src/provider/owners-client.ts'
import { demoOwners, startDemoService } from '../../src/sandbox/demo.ts'
import { sandboxSecrets } from '../../src/sandbox/sandbox-service.ts'
import { liquidityAddresses } from '../../src/service/keyring/keyring.ts'
import { allReconciled } from '../support/all-reconciled.ts'
import { temporaryFolderOfFile } from '../support/folder.ts'
import { patientPolicy } from '../support/patient-policy.ts'
import { runDecided } from '../support/people.ts'
import { emptyDatabase } from '../support/postgres.ts'
import { until } from '../support/until.ts'
import { payer, startWorld, type World } from '../support/world.ts'

/** Two services that know nothing of each other, on the same chains, with owners of the same ids. */

const withinMs = 120_000
const stack = new AsyncDisposableStack()
const folder = temporaryFolderOfFile()
const log = pino({ level: 'silent' })

let world: World
/** Writes the section of acme, and waits until the running daemon follows it. */
let setAcme: (changes: { paused?: boolean }) => Promise<void>
let payToAcme: World['pay']

beforeAll(async () => {
  world = await startWorld({ networks: ['base', 'arbitrum'], policy: patientPolicy }, stack)
  await world.daemon.stop()
  const { networks } = world
  const database = await emptyDatabase()
  stack.defer(() => database.drop())
  const secrets = sandboxSecrets(folder)
  const webhookUrl = `http://127.0.0.1:${world.settings.http.port}/webhooks/acme/transfers`
  const acme = await startDemoService({
    networks,
    port: 0,
    secrets,
    databaseUrl: database.url,
    webhookUrl,
    log,
  })
  stack.defer(() => acme.stop())
  acme.faults.set({ dropWebhookRate: 0, shortForwardRate: 0 })

  const path = world.environment.DEPOSITD_CONFIG ?? ''
  const own = liquidityAddresses(secrets)
  const senders = Object.fromEntries(networks.map(({ name, family }) => [name, [own[family]]]))
  const environment = { ...world.environment, SECRETS_DIR: folder }
  const readSettings = createSettingsReader(environment, (file) => readFileSync(file, 'utf8'))
  const daemon = await startDaemon(readSettings(), { roles, version: 'test', log, readSettings })
  stack.defer(() => daemon.stop())
  const file = parse(readFileSync(path, 'utf8')) as object
  setAcme = async (changes) => {
    const section = { url: acme.url, auth: { secret: 'SERVICE_API_ACME_KEY' }, senders, ...changes }
    writeFileSync(path, stringify({ ...file, services: { acme: section } }))
    daemon.reload()
    await until('the endpoint of acme answers', async () => (await fetch(webhookUrl)).ok || null)
  }
  expect((await fetch(webhookUrl)).status).toBe(404)
  writeFileSync(join(folder, 'SERVICE_API_ACME_KEY'), secrets.writeKey)
  writeFileSync(join(folder, 'WEBHOOK_SECRETS_ACME'), secrets.webhookSecret)
  await setAcme({})
  // Its senders belong to the policy.
  expect(await runDecided('policy approve', environment)).toMatchObject({ status: 0, err: '' })

  const settings = readSettings()
  const [, service] = settings.services
  if (service === undefined) throw new Error('the file names acme')
  const owners = connectOwners(service, loadServiceProfile(settings, service))
  const { channels, wallet } = await demoOwners()
  const [channel] = channels.filter(({ forwardNetwork }) =>
    networks.some(({ name }) => name === forwardNetwork),
  )
  if (channel === undefined) throw new Error('a channel forwards to one of these networks')
  const deps = { db: world.db, networks: settings.networks, owners }
  const entries = [
    await createChannel(deps, { ...channel, id: `acme/${channel.id}` }),
    await createStableWallet(deps, `acme/${wallet}`),
  ]
  payToAcme = payer(world, entries)
}, withinMs)
afterAll(() => stack.disposeAsync())

test(
  'deposits of both are reconciled three ways, each with its own service',
  async () => {
    const amounts = ['10', '20.5', '30.25']
    const paid = amounts.flatMap((amount) => [
      world.pay({ network: 'base', symbol: 'USDC', owner: 'savings', amount }),
      payToAcme({ network: 'base', symbol: 'USDC', owner: 'acme/savings', amount }),
      world.pay({ network: 'base', symbol: 'USDC', owner: 'shop', amount }),
      payToAcme({ network: 'base', symbol: 'USDC', owner: 'acme/shop', amount }),
    ])
    const txs = await Promise.all(paid)
    await until('every deposit is reconciled', () => allReconciled(world, txs), withinMs)
    const { rows } = await sql`
      select service, owner_id, count(*)::int as deposits, sum(amount)::text as paid,
        bool_and(service = 'default' or service_id like 'acme/%') as are_named
      from accounting.deposits group by service, owner_id order by service, owner_id`.execute(world.db)
    const all = { deposits: 3, paid: '60.750000', are_named: true }
    expect(rows).toEqual([
      { service: 'acme', owner_id: 'acme/savings', ...all },
      { service: 'acme', owner_id: 'acme/shop', ...all },
      { service: 'default', owner_id: 'savings', ...all },
      { service: 'default', owner_id: 'shop', ...all },
    ])
    const open = await sql`select kind, subject from mismatch where cleared_at is null`.execute(world.db)
    expect(open.rows).toEqual([])
  },
  2 * withinMs,
)

test('while a service is paused, its webhooks are applied and it is not called', async () => {
  await setAcme({ paused: true })
  const payment = { network: 'base', symbol: 'USDC', amount: '7' } as const
  const tx = await payToAcme({ ...payment, owner: 'acme/shop' })
  const reported = async () => {
    const { rows } = await sql<{ api_at: Date | null }>`
      select api_at from deposit where tx = ${tx} and webhook_at is not null`.execute(world.db)
    return rows[0] ?? null
  }
  await until('a webhook of acme is applied', reported, withinMs)
  const ofOther = await world.pay({ ...payment, owner: 'shop' })
  await until('a deposit of the other is reconciled', () => allReconciled(world, [ofOther]), withinMs)
  expect(await reported()).toEqual({ api_at: null })
  await setAcme({})
  await until('the deposit is reconciled', () => allReconciled(world, [tx]), withinMs)
})

test('what the service said is stored under its name', async () => {
  const { rows } = await sql`
    select source, service, bool_and(service = 'default' or source_key like 'acme/%') as are_named
    from inbox where source in ('webhook', 'api') group by 1, 2 order by 1, 2`.execute(world.db)
  expect(rows).toEqual([
    { source: 'api', service: 'acme', are_named: true },
    { source: 'api', service: 'default', are_named: true },
    { source: 'webhook', service: 'acme', are_named: true },
    { source: 'webhook', service: 'default', are_named: true },
  ])
})
