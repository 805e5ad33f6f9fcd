import { expect, test } from 'vitest'
import type { AssetKey, NetworkName, NetworkSettings } from '../../src/core/asset.ts'
import { createClaimReader } from '../../src/provider/read-claim.ts'
import { recordWriter } from '../../src/service/deposits/record.ts'
import type { ServiceDepositRow } from '../../src/service/tables.ts'
import { at } from '../support/evidence.ts'
import { ownProfile } from '../support/profile.ts'
import { hash, mint, settledRow, usdc } from './settled-row.ts'

function network(name: string, family: 'evm' | 'solana', codes: readonly string[]): NetworkSettings {
  const assets = codes.map((code) => ({
    key: `${name}/${code}` as AssetKey,
    network: name as NetworkName,
    symbol: 'USDC',
    decimals: 6,
  }))
  return { name: name as NetworkName, family, chainId: null, rpcUrls: [], assets }
}

const networks = [network('base', 'evm', [usdc, 'native']), network('solana', 'solana', [mint])]
const creditAsset = {
  key: 'stable-wallet/USDC' as AssetKey,
  network: 'stable-wallet' as NetworkName,
  symbol: 'USDC',
  decimals: 6,
}
const readClaim = createClaimReader(ownProfile, { networks, creditAsset })

type Json = { [name: string]: Json | string | number | null | Json[] }

function record(changes: Partial<ServiceDepositRow> = {}): Json {
  const shown = recordWriter(networks)({ ...settledRow, ...changes })
  return JSON.parse(JSON.stringify(shown)) as Json
}

const read = (source: 'webhook' | 'api', body: Json | string | Buffer) =>
  readClaim({
    source,
    body: Buffer.from(Buffer.isBuffer(body) || typeof body === 'string' ? body : JSON.stringify(body)),
    receivedAt: at(9),
  })

const event = (data: Json): Json => ({
  id: 'evt_1',
  type: 'deposit.settled',
  created_at: at(4).toISOString(),
  data,
})

/** The record with one field, named by its path, set to another value. */
function changed(path: string, value: unknown): Json {
  const document = record()
  const names = path.split('.')
  const last = names.pop() ?? ''
  const parent = names.reduce<Json>((place, name) => place[name] as Json, document)
  if (value === undefined) delete parent[last]
  else parent[last] = value as string
  return document
}

test("the default service's record is read whole, in the spelling used for comparing", () => {
  expect(read('api', record())).toEqual({
    kind: 'claim',
    claim: {
      kind: 'claim',
      source: 'api',
      serviceId: 'dep_1',
      status: 'settled',
      owner: { kind: 'channel', id: 'shop' },
      deposit: {
        network: 'base',
        address: '0x00000000000000000000000000000000000000aa',
        asset: `base/${usdc}`,
        amount: 5_000_000n,
        tx: hash,
        index: '3',
      },
      settlement: {
        network: 'solana',
        address: settledRow.to_address,
        asset: `solana/${mint}`,
        amount: 4_990_000n,
        tx: settledRow.to_transaction,
        fee: 10_000n,
      },
      occurredAt: at(3),
      receivedAt: at(9),
    },
  })
})

test('a webhook says the same as the record, at the time of its event', () => {
  const reported = read('webhook', event(record()))
  const listed = read('api', record())
  if (reported.kind !== 'claim' || listed.kind !== 'claim') throw new Error('both are read')
  expect(reported.claim).toEqual({ ...listed.claim, source: 'webhook', occurredAt: at(4) })
})

test('before it is converted, a deposit has neither fee nor delivery', () => {
  const early = { to_amount: null, to_transaction: null, to_at: null, fee: null, status: 'detected' } as const
  expect(read('api', record(early))).toMatchObject({
    claim: { status: 'observed', settlement: { amount: null, tx: null, fee: null } },
  })
})

test('a refund is named once it has a transaction, and by a text that is one', () => {
  const back = { refund_address: settledRow.sender, refund_amount: '5000000', status: 'refunding' } as const
  const reported = (refund_transaction: string | null) => read('api', record({ ...back, refund_transaction }))
  const tx = `0x${'ef'.repeat(32)}`
  expect(reported(tx.replaceAll('ef', 'EF'))).toMatchObject({ claim: { status: 'held', refund: { tx } } })
  expect(reported(null)).not.toHaveProperty('claim.refund')
  expect(reported('sent')).toMatchObject({ kind: 'schema_drift', path: 'refund.transaction' })
})

test('a credit to a StableWallet is on no chain and names the wallet', () => {
  const credit = record({
    owner_kind: 'stable_wallet',
    to_network: null,
    to_contract: null,
    to_address: 'w1',
  })
  expect(read('api', credit)).toMatchObject({
    claim: {
      owner: { kind: 'stable_wallet' },
      settlement: { network: 'stable-wallet', address: 'w1', asset: 'stable-wallet/USDC' },
    },
  })
})

test("a network's own coin has no contract, and the largest amount of a chain keeps its last digit", () => {
  const amount = 2n ** 256n - 1n
  expect(read('api', record({ contract: null, amount: amount.toString() }))).toMatchObject({
    claim: { deposit: { asset: 'base/native', amount } },
  })
})

test.each([
  ['detected', 'observed'],
  ['converting forwarding', 'settling'],
  ['settled credited', 'settled'],
  ['confirmed', 'confirmed'],
  ['held', 'held'],
  ['refunding', 'held'],
  ['refunded', 'refunded'],
  ['failed', 'failed'],
])('the status %s means %s', (words, status) => {
  for (const word of words.split(' '))
    expect(read('api', changed('status', word))).toMatchObject({ claim: { status } })
})

test.each<[string, string, unknown, string]>([
  ['no id', 'id', undefined, 'id'],
  ['an id of 201 characters', 'id', 'x'.repeat(201), 'id'],
  ['an id that Postgres cannot keep', 'id', 'dep\u0000', 'id'],
  ['a kind of owner that is not known', 'owner.type', 'bank', 'owner.type'],
  ['no owner', 'owner', undefined, 'owner.type'],
  ['an unknown network', 'source.network', 'dogechain', 'source.network'],
  ['a word for a transaction', 'source.transaction', 'pending', 'source.transaction'],
  ['a transaction of zeros', 'destination.transaction', `0x${'0'.repeat(64)}`, 'destination.transaction'],
  ['an asset that the settings do not name', 'source.contract', `0x${'9'.repeat(40)}`, 'source.contract'],
  ['a symbol in place of a contract', 'source.contract', 'USDC', 'source.contract'],
  ['no contract at all', 'source.contract', undefined, 'source.contract'],
  ['an address of another family', 'source.address', mint, 'source.address'],
  ['no amount', 'source.amount', null, 'source.amount'],
  ['no transaction at all', 'source.transaction', undefined, 'source.transaction'],
  ['a negative fee', 'fee.amount', '-1', 'fee.amount'],
  ['an unknown network of delivery', 'destination.network', 'moon', 'destination.network'],
  ['no delivery', 'destination', undefined, 'destination.address'],
])('%s is unreadable, and the place is named', (...[, path, value, place]) => {
  expect(read('api', changed(path, value))).toMatchObject({ kind: 'schema_drift', path: place })
  expect(read('webhook', event(changed(path, value)))).toMatchObject({
    kind: 'schema_drift',
    path: `data.${place}`,
  })
})

test('a test of the endpoint tells of no deposit, and is passed over', () => {
  const reported = {
    ...event({ endpoint: { id: 'we_1', url: 'https://example.com' } }),
    type: 'endpoint.test',
  }
  expect(read('webhook', reported)).toMatchObject({ kind: 'ignored' })
})

test.each<[string, Json, object]>([
  [
    'a kind of event',
    { ...event(record()), type: 'channel.created' },
    { kind: 'unknown_event', path: 'type', problem: 'unknown event channel.created' },
  ],
  [
    'a status',
    event(changed('status', 'teleported')),
    { kind: 'unknown_status', path: 'data.status', problem: 'unknown status teleported' },
  ],
  [
    'no kind of event',
    { created_at: at(4).toISOString(), data: record() },
    { kind: 'schema_drift', path: 'type' },
  ],
])('%s that nobody has heard of is named', (_what, reported, expected) => {
  expect(read('webhook', reported)).toMatchObject(expected)
})

test.each<[string, string | Buffer]>([
  ['nothing', ''],
  ['a list', '[]'],
  ['a word', '"deposit"'],
  ['null', 'null'],
  ['half a document', '{"id":'],
  ['bytes that are no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d])],
  ['a hundred thousand brackets', '['.repeat(100_000)],
  ['a hundred thousand brackets, closed', '['.repeat(100_000) + ']'.repeat(100_000)],
])('%s is unreadable', (_what, body) => {
  for (const source of ['api', 'webhook'] as const) {
    const reading = read(source, body)
    expect(reading).toMatchObject({ kind: 'schema_drift' })
    expect(JSON.stringify(reading).length).toBeLessThan(500)
  }
})

test('a record with a byte that is no UTF-8 is unreadable, even where it says all that is needed', () => {
  const body = Buffer.from(JSON.stringify(record()))
  body[body.indexOf('dep_1')] = 0xff
  expect(read('api', body)).toMatchObject({ kind: 'schema_drift', path: '', problem: 'is no UTF-8' })
})

test('fields that are not known are passed over, however deep', () => {
  const deep = `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`
  const text = JSON.stringify(record()).replace('{', `{"extra":${deep},"__proto__":{"id":"other"},`)
  expect(read('api', text)).toMatchObject({ kind: 'claim', claim: { serviceId: 'dep_1' } })
})
