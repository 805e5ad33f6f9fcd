import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { pino } from 'pino'
import { parseAddress } from '../../src/core/asset.ts'
import { toAmount } from '../../src/core/money.ts'
import { demoOwners, startDemoService } from '../../src/sandbox/demo.ts'
import { freePort } from '../../src/sandbox/free-port.ts'
import { sandboxSecrets } from '../../src/sandbox/sandbox-service.ts'
import type { Faults } from '../../src/service/faults/faults.ts'
import type { ServiceDatabase, ServiceTables } from '../../src/service/tables.ts'
import { openDatabase } from '../../src/store/database.ts'
import { type Front, shapes } from '../shapes/front.ts'
import type { OurChannel, OurDeposit, OurPage, OurPayout, OurWallet } from '../shapes/shape.ts'
import { type Ran, runCommand } from './command.ts'
import type { Paid } from './facts-of-world.ts'
import { signingKeys } from './people.ts'
import { emptyDatabase } from './postgres.ts'
import type { World } from './world.ts'

/** A deposit service of a shape that depositd does not know, with owners, whom customers pay. */
export type Connectable = {
  name: string
  front: Front
  /** Until then, every delivery fails and is repeated. */
  sendWebhooks: () => void
  faults: Faults
  /** Of the service. */
  db: ServiceDatabase
  /** Networks, assets and owners in turn. */
  pay: (place: number) => Promise<Paid>
  /** How many deposits have come to their end. */
  countEnded: () => Promise<number>
}

type Place = Pick<World, 'networks' | 'settings'> & { folder: string; stack: AsyncDisposableStack }

const log = pino({ level: 'silent' })
/**
 * Deliveries of what no source states are told apart by their amounts alone, and all services deliver to the same
 * recipients. So amounts differ by service, asset and place, also once they are converted to six decimals.
 */
const deliveredDecimals = 6
const paymentsMax = 1000
/** Of more owners than a page, few receive deposits. */
const idleWallets = 50

/** Its secrets are files in the folder. */
export async function startConnectable(
  { networks, settings, folder, stack }: Place,
  { name, start }: (typeof shapes)[number],
): Promise<Connectable> {
  const database = await emptyDatabase()
  stack.defer(() => database.drop())
  const own = join(folder, name)
  mkdirSync(own)
  const secrets = sandboxSecrets(own)
  const webhookPort = await freePort()
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
  const db = openDatabase<ServiceTables>({ url: database.url, poolMax: 2, applicationName: 'test' })
  stack.defer(() => db.destroy())
  const keys = { api: randomBytes(16).toString('hex'), webhook: randomBytes(24).toString('hex') }
  const front = await start({
    serviceUrl: service.url,
    serviceKey: secrets.readKey,
    serviceWebhookSecret: secrets.webhookSecret,
    webhookPort,
    keys,
    payouts: async (deposit) => (isSplit(service.faults, deposit) ? payoutsOf(db, deposit) : []),
  })
  stack.defer(() => front[Symbol.asyncDispose]())
  const upper = name.toUpperCase()
  writeFileSync(join(folder, `SERVICE_API_${upper}_KEY`), keys.api)
  const isKey = front.webhookSecret.startsWith('-----BEGIN')
  writeFileSync(join(folder, isKey ? `${name}.pem` : `WEBHOOK_SECRETS_${upper}`), front.webhookSecret)
  const addresses = await createOwners(service.url, secrets.writeKey, name)
  const turn = shapes.findIndex((shape) => shape.name === name)
  return {
    name,
    front,
    sendWebhooks: () => front.sendTo(`http://127.0.0.1:${settings.http.port}/webhooks/${name}/transfers`),
    faults: service.faults,
    db,
    async countEnded() {
      const { rows } = await sql`
        select from service.deposit where status in ('settled', 'credited')`.execute(db)
      return rows.length
    },
    async pay(place) {
      const network = networks[place % networks.length]
      const kind = Math.floor(place / 2) % (network?.assets.length ?? 1)
      const asset = network?.assets[kind]
      const here = addresses.filter((one) => one.network === network?.name)
      const address = here[place % here.length]?.address
      if (!network || !asset || address === undefined) throw new Error('nothing to pay')
      const units = BigInt(20_000 * (kind + 1) + paymentsMax * turn + place)
      const amount = toAmount(units * 10n ** BigInt(asset.decimals - deliveredDecimals))
      const to = parseAddress(network.family, address)
      const tx = await network.pay({ asset: asset.key, to, amount })
      return { network: network.name, tx, address: to, asset: asset.key, amount }
    },
  }
}

function isSplit(faults: Faults, { source: { network, transaction, index } }: OurDeposit): boolean {
  return transaction !== null && faults.strikes('splitForwardRate', { network, transaction, index })
}

/** None if they are not the whole delivery: a fault may send what the service does not report. */
async function payoutsOf(db: ServiceDatabase, { id }: OurDeposit): Promise<readonly OurPayout[]> {
  const { rows } = await sql<OurPayout>`
    select * from (
      select amount, coalesce(transfer.transaction, newest.transaction) as transaction, null as time,
        sum(amount::numeric) over () as whole
      from service.transfer left join lateral (
        select transaction from service.signing where transfer_id = transfer.id order by version desc limit 1
      ) as newest on true
      where deposit_id = ${id} and kind in ('forward', 'extra') and outcome is distinct from 'reverted'
        and outcome is distinct from 'expired'
      order by transfer.id
    ) as sent
    where whole = (select to_amount::numeric from service.deposit where id = ${id})`.execute(db)
  return rows.map(({ amount, transaction, time }) => ({ amount, transaction, time }))
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
  for (let place = 0; place < idleWallets; place++) {
    // On neither the first nor the last page, in any order.
    if (place === idleWallets / 2) await call('/v1/stable-wallets', { id: `${wallet}-${name}` })
    await call('/v1/stable-wallets', { id: `idle-${place}-${name}` })
  }
  const made = ((await call('/v1/channels')) as OurPage<OurChannel>).data
  const wallets = ((await call('/v1/stable-wallets?limit=100')) as OurPage<OurWallet>).data
  return [
    ...made.flatMap(({ addresses }) => addresses),
    ...wallets.flatMap(({ stable_wallet: one }) => (one.id.startsWith('idle-') ? [] : one.deposit_addresses)),
  ]
}

const payEveryMs = 400

/** Customers go on paying while the service is connected. */
export function payOn({ pay }: Connectable, from: number) {
  const over = new AbortController()
  const payAll = async () => {
    const paid: Paid[] = []
    for (let place = from; !over.signal.aborted; place++) {
      paid.push(await pay(place))
      await sleep(payEveryMs)
    }
    return paid
  }
  return { paid: payAll(), stop: () => over.abort() }
}

/** @throws Error with what the command wrote if it fails */
export async function onboard(
  { name, front }: Connectable,
  { environment, folder, wait = 60 }: { environment: Record<string, string>; folder: string; wait?: number },
): Promise<string> {
  const isKey = front.webhookSecret.startsWith('-----BEGIN')
  const words = ['onboard', name, '--yes', '--wait', `${wait}`, '--url', front.url]
  words.push('--auth', JSON.stringify(front.auth))
  if (isKey) words.push('--public-keys', join(folder, `${name}.pem`))
  const { status, out, err } = await runApproved(words, environment)
  if (process.env.SHOW !== undefined) process.stdout.write(out)
  if (status !== 0) throw new Error(`onboard ${name} ended with ${status}: ${err}\n${out}`)
  return out
}

/** If it stops for a second person, max signs, and it runs again. */
async function runApproved(words: readonly string[], environment: Record<string, string>): Promise<Ran> {
  const first = await runCommand(words, environment)
  const [, id] = /decision (\d+) waits for a second person/.exec(first.err) ?? []
  if (id === undefined) return first
  const approved = await runCommand(`decisions approve ${id} --yes`, { ...environment, ...signingKeys.max })
  if (approved.status !== 0) return approved
  const second = await runCommand(words, environment)
  return { ...second, out: first.out + second.out }
}
