import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startDaemon } from '../../src/app/daemon.ts'
import { run } from '../../src/cli/run.ts'
import { createSettingsReader } from '../../src/config/settings.ts'
import { parseAmount } from '../../src/core/money.ts'
import { roles } from '../../src/health.ts'
import { demoOwners, startDemoService } from '../../src/sandbox/demo.ts'
import { freePort } from '../../src/sandbox/free-port.ts'
import { sandboxSecrets } from '../../src/sandbox/sandbox-service.ts'
import { type Front, shapes } from '../shapes/front.ts'
import type { OurChannel, OurPage, OurWallet } from '../shapes/shape.ts'
import { allReconciled } from '../support/all-reconciled.ts'
import { temporaryFolderOfFile } from '../support/folder.ts'
import { patientPolicy } from '../support/patient-policy.ts'
import { emptyDatabase } from '../support/postgres.ts'
import { until } from '../support/until.ts'
import { startWorld, type World } from '../support/world.ts'

/**
 * Services of shapes that the daemon has never seen, each with deposits, chains and webhooks of its own, are connected to
 * one installation by one command. No profile of theirs is in the repository.
 */

const withinMs = 120_000
/** `ALL=1` connects all of them, `SHAPE=quay` one. */
const wanted = process.env.SHAPE?.split(',') ?? (process.env.ALL === '1' ? null : ['tern', 'dunlin'])
const depositsEach = Number(process.env.DEPOSITS ?? 16)
const folder = temporaryFolderOfFile()
const stack = new AsyncDisposableStack()
const log = pino({ level: 'silent' })

/** A list without a filter shows changes of older records only when it is read as a whole. */
const often = { schedule: { pollAll: '5s' } as object }

type Connected = {
  name: string
  front: Front
  pay: (place: number) => Promise<string>
  /** How many deposits have come to their end. */
  countEnded: () => Promise<number>
}

let world: World
let environment: Record<string, string>
const connected: Connected[] = []

beforeAll(async () => {
  world = await startWorld(
    { networks: ['base', 'solana'], policy: patientPolicy, sections: () => often },
    stack,
  )
  await world.daemon.stop()
  const publicUrl = `http://127.0.0.1:${world.settings.http.port}`
  environment = { ...world.environment, SECRETS_DIR: folder, PUBLIC_URL: publicUrl }
  const readSettings = createSettingsReader(environment, (file) => readFileSync(file, 'utf8'))
  const daemon = await startDaemon(readSettings(), { roles, version: 'test', log, readSettings })
  stack.defer(() => daemon.stop())
  for (const shape of shapes)
    if (wanted?.includes(shape.name) !== false) connected.push(await startShape(shape))
}, withinMs + 60_000)
afterAll(() => stack.disposeAsync())

async function startShape({ name, start }: (typeof shapes)[number]): Promise<Connected> {
  const database = await emptyDatabase()
  stack.defer(() => database.drop())
  const own = join(folder, name)
  mkdirSync(own)
  const secrets = sandboxSecrets(own)
  const webhookPort = await freePort()
  const { networks } = world
  const service = await startDemoService({
    networks,
    port: 0,
    secrets,
    databaseUrl: database.url,
    webhookUrl: `http://127.0.0.1:${webhookPort}/`,
    log,
  })
  stack.defer(() => service.stop())
  service.faults.set({ dropWebhookRate: 0, shortForwardRate: 0 })
  const keys = { api: randomBytes(16).toString('hex'), webhook: randomBytes(24).toString('hex') }
  const front = await start({
    serviceUrl: service.url,
    serviceKey: secrets.readKey,
    serviceWebhookSecret: secrets.webhookSecret,
    webhookPort,
    keys,
  })
  stack.defer(() => front[Symbol.asyncDispose]())
  front.sendTo(`http://127.0.0.1:${world.settings.http.port}/webhooks/${name}/transfers`)
  const upper = name.toUpperCase()
  writeFileSync(join(folder, `SERVICE_API_${upper}_KEY`), keys.api)
  const isKey = front.webhookSecret.startsWith('-----BEGIN')
  writeFileSync(join(folder, isKey ? `${name}.pem` : `WEBHOOK_SECRETS_${upper}`), front.webhookSecret)
  const addresses = await createOwners(service.url, secrets.writeKey, name)
  return {
    name,
    front,
    async countEnded() {
      const path = '/v1/proxies/deposits?limit=500'
      const answer = await fetch(service.url + path, { headers: { 'x-api-key': secrets.readKey } })
      const { data } = (await answer.json()) as OurPage<{ status: string }>
      return data.filter(({ status }) => ['settled', 'credited'].includes(status)).length
    },
    pay: (place) => {
      const network = networks[place % networks.length]
      const asset = network?.assets[Math.floor(place / 2) % network.assets.length]
      const here = addresses.filter((one) => one.network === network?.name)
      const to = here[place % here.length]?.address
      if (!network || !asset || !to) throw new Error('nothing to pay')
      const amount = parseAmount('0.02', asset.decimals) + BigInt(place)
      return network.pay({ asset: asset.key, to: to as never, amount: amount as never })
    },
  }
}

/** As a company has them before it connects depositd. */
async function createOwners(url: string, key: string, name: string) {
  const call = async (path: string, body?: object): Promise<unknown> => {
    const headers = { 'x-api-key': key, 'content-type': 'application/json' }
    const asked = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    return (await fetch(url + path, { headers, ...asked })).json()
  }
  const { channels, wallet } = await demoOwners()
  for (const { id, forwardNetwork, forwardAsset, forwardRecipient } of channels)
    await call('/v1/channels', {
      id: `${id}-${name}`,
      forward_network: forwardNetwork,
      forward_asset: forwardAsset,
      forward_recipient: forwardRecipient,
    })
  await call('/v1/stable-wallets', { id: `${wallet}-${name}` })
  const made = ((await call('/v1/channels')) as OurPage<OurChannel>).data
  const wallets = ((await call('/v1/stable-wallets')) as OurPage<OurWallet>).data
  return [
    ...made.flatMap(({ addresses }) => addresses),
    ...wallets.flatMap((one) => one.stable_wallet.deposit_addresses),
  ]
}

const payEveryMs = 400

/** Customers go on paying while the service is connected. */
function payOn({ pay }: Connected, from: number) {
  const over = new AbortController()
  const payAll = async () => {
    const txs: string[] = []
    for (let place = from; !over.signal.aborted; place++) {
      txs.push(await pay(place))
      await sleep(payEveryMs)
    }
    return txs
  }
  return { paid: payAll(), stop: () => over.abort() }
}

async function onboard({ name, front }: Connected, wait = 60): Promise<string> {
  const isKey = front.webhookSecret.startsWith('-----BEGIN')
  const words = ['onboard', name, '--yes', '--wait', `${wait}`, '--url', front.url]
  words.push('--auth', JSON.stringify(front.auth))
  if (isKey) words.push('--public-keys', join(folder, `${name}.pem`))
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const status = await run({ arguments: words, environment, stdout, stderr })
  stdout.end()
  stderr.end()
  const [out, err] = [await text(stdout), await text(stderr)]
  if (process.env.SHOW !== undefined) process.stdout.write(out)
  if (status !== 0) throw new Error(`onboard ${name} ended with ${status}: ${err}\n${out}`)
  return out
}

const names = shapes.map(({ name }) => name).filter((name) => wanted?.includes(name) !== false)

test.each(names)(
  '%s is connected by onboard --yes alone, and every deposit is reconciled',
  async (name) => {
    const one = connected.find((service) => service.name === name)
    if (one === undefined) throw new Error(`${name} is not there`)
    const pay = () => Promise.all(Array.from({ length: depositsEach }, (_, place) => one.pay(place)))
    const before = await pay()
    const hasHistory = async () => (await one.countEnded()) === depositsEach || null
    await until('the service has history', hasHistory, withinMs)
    await expect(onboard(one, 0)).rejects.toThrow('only 0 webhooks arrived within 0 s')
    const traffic = payOn(one, depositsEach)
    expect(await onboard(one).finally(traffic.stop)).toContain('Found before')
    const all = [...before, ...(await traffic.paid), ...(await pay())]
    await until('every deposit is reconciled', () => allReconciled(world, all), withinMs)
    const { rows } = await sql`
      select kind, detail from mismatch where service = ${name} and cleared_at is null`.execute(world.db)
    expect(rows).toEqual([])
    expect(await onboard(one)).toContain(`${name} is active already`)
  },
  3 * withinMs,
)

test('no deposit, owner or payload of one service is that of another', async () => {
  const { rows } = await sql`
    select service, bool_and(service_id like service || '/%') as own_id, bool_and(owner_id like service || '/%-' || service) as own_owner,
      bool_and(address in (select address from address_book where owner_id like service || '/%')) as own_address
    from deposit where service <> 'default' and service_id is not null and merged_into is null
    group by service order by service`.execute(world.db)
  const own = { own_id: true, own_owner: true, own_address: true }
  expect(rows).toEqual(names.toSorted().map((service) => ({ service, ...own })))
})
