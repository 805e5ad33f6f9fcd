import { createHmac } from 'node:crypto'
import { join } from 'node:path'
import { sql } from 'kysely'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Address, type AssetKey, toTxId } from '../../src/core/asset.ts'
import { deliverWebhooks } from '../../src/service/deliver-webhooks.ts'
import { openDeposits } from '../../src/service/deposits.ts'
import { createFaults } from '../../src/service/faults.ts'
import { type RunningServer, startServer } from '../../src/service/http/server.ts'
import { openKeyring } from '../../src/service/keyring.ts'
import type { Payment } from '../../src/service/network/port.ts'
import { openOutbox } from '../../src/service/outbox.ts'
import { keepOwner } from '../../src/service/owners.ts'
import { type DepositRecord, recordWriter } from '../../src/service/record.ts'
import { recordScan } from '../../src/service/record-scan.ts'
import type { ServiceDatabase, ServiceTables } from '../../src/service/tables.ts'
import { inTransaction, openDatabase } from '../../src/store/database.ts'
import { migrate } from '../../src/store/migrate.ts'
import { emptyDatabase, type TestDatabase } from '../support/postgres.ts'
import { call, readKey, seed, serviceSettings, unreachableNetworks } from './fixtures.ts'
import { startReceiver, type WebhookReceiver } from './webhook-receiver.ts'

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const keyring = openKeyring(seed)
const mainnet = unreachableNetworks.find(({ name }) => name === 'mainnet')

let database: TestDatabase
let db: ServiceDatabase
let server: RunningServer
let receiver: WebhookReceiver
let branchAddress: Address

beforeAll(async () => {
  database = await emptyDatabase()
  receiver = await startReceiver()
  db = openDatabase<ServiceTables>({ url: database.url, poolMax: 10, applicationName: 'test' })
  await migrate(db, join(import.meta.dirname, '../../db/service/migrations'))
  const settings = serviceSettings(database.url, unreachableNetworks)
  server = await startServer({ settings, db, keyring, log: pino({ level: 'silent' }) })
  const rule = { forward_network: null, forward_asset: null, forward_recipient: null }
  branchAddress = (await keepOwner(db, keyring, { kind: 'stable_wallet', id: 'savings', ...rule }))
    .evm_address
  await sql`
    insert into service.stream (network, liquidity_address, final_height, seen_height)
    values ('mainnet', 'x', 0, 0)`.execute(db)
})

afterAll(async () => {
  await server.stop()
  await receiver.stop()
  await db.destroy()
  await database.drop()
})

const deposits = () => openDeposits(openOutbox(recordWriter(unreachableNetworks), [receiver.url]))

function payment(number: number, final: boolean): Payment {
  return {
    transaction: toTxId(`0x${number.toString(16).padStart(64, '0')}`),
    index: 'native',
    asset: 'mainnet/native' as AssetKey,
    sender: '0x1111111111111111111111111111111111111111' as Address,
    address: branchAddress,
    amount: 10n ** 18n + BigInt(number),
    block: BigInt(number),
    blockHash: '0xaa',
    blockAt: new Date('2026-11-20T12:00:00Z'),
    final,
  }
}

async function record(payments: readonly Payment[], finalHeight: bigint): Promise<void> {
  if (mainnet === undefined) throw new Error('the fixtures have a mainnet')
  const position = { finalHeight, finalHash: null, seenHeight: finalHeight, seenHash: null }
  const recorder = { db, deposits: deposits(), networks: unreachableNetworks }
  await recordScan(recorder, mainnet, { payments, position, more: false })
}

const list = async (query: string) => {
  const { body } = await call(`${server.url}/v1/proxies/deposits?${query}`, readKey)
  return body as { data: DepositRecord[]; next_cursor: string | null }
}

test('a payment seen, then final, is listed as confirmed and told of twice', async () => {
  await record([payment(1, false)], 0n)
  await record([payment(1, true)], 1n)
  const { data } = await list('')
  expect(data[0]).toEqual({
    id: expect.stringMatching(/^dep_[0-9a-f]{24}$/),
    owner: { type: 'stable_wallet', id: 'savings' },
    status: 'confirmed',
    source: {
      network: 'mainnet',
      address: expect.stringMatching(/^0x[0-9a-fA-F]{40}$/),
      asset: 'ETH',
      contract: null,
      decimals: 18,
      amount: '1000000000000000001',
      transaction: payment(1, true).transaction,
      index: 'native',
      sender: '0x1111111111111111111111111111111111111111',
      block: '1',
      time: '2026-11-20T12:00:00.000Z',
    },
    destination: {
      network: null,
      address: 'savings',
      asset: 'USDC',
      contract: null,
      decimals: 6,
      amount: null,
      transaction: null,
      time: null,
    },
    fee: null,
    rate: null,
    created_at: expect.stringMatching(/Z$/),
    updated_at: expect.stringMatching(/Z$/),
  })
  const { rows } = await sql<{ type: string }>`select type from service.event order by sequence`.execute(db)
  expect(rows.map(({ type }) => type)).toEqual(['deposit.detected', 'deposit.confirmed'])
})

test('webhooks are sent until they are answered with 2xx, signed over the very bytes', async () => {
  receiver.answerWith(503)
  await deliverWebhooks(db, [{ url: receiver.url, secret }], quiet)
  expect(receiver.taken()).toHaveLength(2)
  await deliverWebhooks(db, [{ url: receiver.url, secret }], quiet)
  expect(receiver.taken(), 'not before the pause is over').toHaveLength(0)
  receiver.answerWith(204)
  await sql`update service.delivery set next_at = now()`.execute(db)
  await deliverWebhooks(db, [{ url: receiver.url, secret }], quiet)
  const taken = receiver.taken()
  const events = taken.map(
    ({ body }) => JSON.parse(body) as { id: string; type: string; data: DepositRecord },
  )
  expect(events.map(({ type }) => type).toSorted()).toEqual(['deposit.confirmed', 'deposit.detected'])
  for (const { headers, body } of taken) {
    const { 'webhook-id': id, 'webhook-timestamp': timestamp } = headers
    const key = Buffer.from(secret.slice(6), 'base64')
    const expected = createHmac('sha256', key)
      .update(`${String(id)}.${String(timestamp)}.${body}`)
      .digest('base64')
    expect(headers['webhook-signature']).toBe(`v1,${expected}`)
    expect(headers['content-type']).toBe('application/json')
    expect(id).toBe((JSON.parse(body) as { id: string }).id)
  }
  const detected = events.find(({ type }) => type === 'deposit.detected')
  expect(detected?.data.status, 'the record as it was at that state').toBe('detected')
  const { rows } = await sql`select from service.delivery where delivered_at is null`.execute(db)
  expect(rows).toHaveLength(0)
})

const quiet = createFaults({ seed: 'test', dropWebhookRate: 0, shortForwardRate: 0 })

test('a dropped webhook is never sent, though the delivery log says so', async () => {
  await record([payment(2, false)], 1n)
  const faults = createFaults({ seed: 'test', dropWebhookRate: 1, shortForwardRate: 0 })
  await deliverWebhooks(db, [{ url: receiver.url, secret }], faults)
  expect(receiver.taken()).toHaveLength(0)
  const { rows } = await sql`select from service.delivery where delivered_at is null`.execute(db)
  expect(rows).toHaveLength(0)
})

test('a deposit that is gone when its block is final has failed, and may come back as another', async () => {
  await record([], 2n)
  const [gone] = (await list('limit=1')).data
  expect(gone).toMatchObject({ status: 'failed', source: { block: '2' } })
  await record([{ ...payment(2, false), block: 4n }], 2n)
  const [back] = (await list('limit=1')).data
  expect(back).toMatchObject({
    status: 'detected',
    source: { block: '4', transaction: gone?.source.transaction },
  })
  expect(back?.id).not.toBe(gone?.id)
})

test('the same scan recorded by twenty at once makes one deposit', async () => {
  await Promise.all(Array.from({ length: 20 }, () => record([payment(5, true)], 5n)))
  const { data } = await list(`transaction=${payment(5, true).transaction}`)
  expect(data).toHaveLength(1)
})

test('pages are newest first and hold every deposit once, whatever is added meanwhile', async () => {
  await record(
    Array.from({ length: 20 }, (_, place) => payment(100 + place, false)),
    5n,
  )
  const read: DepositRecord[] = []
  let cursor: string | null = ''
  for (let page = 0; cursor !== null; page++) {
    const { data, next_cursor } = await list(`limit=7${cursor === '' ? '' : `&cursor=${cursor}`}`)
    read.push(...data)
    cursor = next_cursor
    await record([payment(200 + page, false)], 5n)
  }
  const newest = Array.from({ length: 20 }, (_, place) => payment(119 - place, false).transaction)
  expect(read.slice(0, 20).map(({ source }) => source.transaction)).toEqual(newest)
  expect(new Set(read.map(({ id }) => id)).size).toBe(read.length)
})

test('filters narrow the list', async () => {
  const all = (await list('limit=500')).data
  const count = async (query: string) => (await list(`limit=500&${query}`)).data.length
  expect(await count('owner=savings&network=mainnet')).toBe(all.length)
  expect(await count('owner=nobody')).toBe(0)
  expect(await count('network=base')).toBe(0)
  expect(await count('status=failed')).toBe(all.filter(({ status }) => status === 'failed').length)
  const [newest] = all
  expect(await count(`updated_since=${newest?.updated_at}`)).toBeGreaterThanOrEqual(1)
  expect(await count('updated_since=2100-01-01T00:00:00Z')).toBe(0)
})

test('Postgres refuses a change of state without its event, and an event without its change of state', async () => {
  const [newest] = (await list('limit=1')).data
  const id = newest?.id ?? ''
  const change = inTransaction(db, (tx) =>
    sql`
    update service.deposit set status = 'confirmed' where id = ${id}`.execute(tx),
  )
  await expect(change).rejects.toThrow('deposit_has_event')
  const event = sql`
    insert into service.event (id, type, deposit_id, revision, body, created_at)
    values ('evt_1', 'deposit.confirmed', ${id}, 2, '{}', now())`.execute(db)
  await expect(event).rejects.toThrow('not its state')
})

test('what has left a state is not changed again', async () => {
  const [newest] = (await list('status=confirmed')).data
  const change = { id: newest?.id ?? '', status: 'failed', failure: 'vanished' } as const
  const changed = await inTransaction(db, (tx) => deposits().change(tx, ['detected'], [change]))
  expect(changed).toEqual([])
})
