/** Samples in the shapes that docs/providers.md names the sources of; ids, addresses and amounts are made up. */
import { describe, expect, test } from 'vitest'
import { compilePath } from '../../../src/provider/profile/find-field.ts'
import { profileOf } from '../../support/profile.ts'
import { read, receivedAt, sample } from './samples.ts'

type Json = Record<string, unknown>

/** The text at the path that leads to the next page. */
const nextOf = (name: string, page: Json) => compilePath(profileOf(name).list.next)(page, page)

const address = '0x00000000000000000000000000000000000000aa'
const hash = (digit: string) => `0x${digit.repeat(64)}`

/** The claim's status for each word, or `ignored`. */
function meanings(name: string, words: readonly string[], record: (word: string) => unknown) {
  return words.map((word) => {
    const found = read(name, 'api', record(word))
    return [word, found.kind === 'claim' ? found.claim.status : found.kind]
  })
}

describe('circle-wallets', () => {
  const event = sample('circle-wallets') as { notification: Json } & Json
  const transaction = event.notification
  const claim = {
    kind: 'claim',
    serviceId: 'c71f4f0a-3a4d-5b7e-9c8d-2e6f1a0b3c4d',
    owner: { kind: 'stable_wallet', id: '1d2c3b4a-5f6e-4a7b-8c9d-0e1f2a3b4c5d' },
    status: 'settled',
    deposit: {
      network: 'base',
      address,
      asset: 'base/0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
      amount: 12_500_000n,
      tx: hash('1'),
      index: null,
    },
    settlement: null,
    receivedAt,
  }

  test('a webhook and a record say the same, each at its own time', () => {
    expect(read('circle-wallets', 'webhook', event)).toEqual({
      kind: 'claim',
      claim: { ...claim, source: 'webhook', occurredAt: new Date('2026-11-02T08:15:42.123Z') },
    })
    expect(read('circle-wallets', 'api', transaction)).toEqual({
      kind: 'claim',
      claim: { ...claim, source: 'api', occurredAt: new Date('2026-11-02T08:15:41Z') },
    })
  })

  test('every documented state has a meaning', () => {
    const states =
      'INITIATED QUEUED CLEARED SENT STUCK CONFIRMED COMPLETE DENIED CANCELLED FAILED PAUSED'.split(' ')
    expect(meanings('circle-wallets', states, (state) => ({ ...transaction, state }))).toEqual([
      ['INITIATED', 'ignored'],
      ['QUEUED', 'ignored'],
      ['CLEARED', 'ignored'],
      ['SENT', 'observed'],
      ['STUCK', 'observed'],
      ['CONFIRMED', 'observed'],
      ['COMPLETE', 'settled'],
      ['DENIED', 'held'],
      ['CANCELLED', 'failed'],
      ['FAILED', 'failed'],
      ['PAUSED', 'unknown_status'],
    ])
  })

  test('outgoing transactions are passed over, an unknown token is named', () => {
    const outgoing = { ...event, notificationType: 'transactions.outbound' }
    expect(read('circle-wallets', 'webhook', outgoing)).toMatchObject({ kind: 'ignored' })
    expect(read('circle-wallets', 'api', { ...transaction, transactionType: 'OUTBOUND' })).toMatchObject({
      kind: 'ignored',
    })
    const tokenId = '0a0b0c0d-0000-5000-8000-000000000001'
    expect(read('circle-wallets', 'api', { ...transaction, tokenId })).toMatchObject({
      kind: 'schema_drift',
      path: 'tokenId',
    })
  })

  test('a page leads on after its last transaction, and an empty one ends the list', () => {
    const page = { data: { transactions: [{ id: 'a' }, transaction] } }
    expect(nextOf('circle-wallets', page)).toBe(transaction.id)
    expect(nextOf('circle-wallets', { data: { transactions: [] } })).toBeUndefined()
  })
})

describe('privy', () => {
  const event = sample('privy') as Json

  test('the one event settles the deposit; the time of receipt counts', () => {
    expect(read('privy', 'webhook', event)).toEqual({
      kind: 'claim',
      claim: {
        kind: 'claim',
        source: 'webhook',
        serviceId: '3e5a7c91-0b2d-4f68-8a1c-d4e6f8091b2c',
        owner: { kind: 'stable_wallet', id: 'w4q1kz7m2x9c' },
        status: 'settled',
        deposit: {
          network: 'base',
          address,
          asset: 'base/0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
          amount: 7_250_000n,
          tx: hash('2'),
          index: null,
        },
        settlement: null,
        occurredAt: receivedAt,
        isUndated: true,
        receivedAt,
      },
    })
  })

  test('an address of null is the own coin, and tokens of Solana have a mint', () => {
    const coin = { ...event, caip2: 'eip155:1', asset: { type: 'native-token', address: null } }
    expect(read('privy', 'webhook', coin)).toMatchObject({
      claim: { deposit: { network: 'mainnet', asset: 'mainnet/native', amount: 7_250_000n } },
    })
    const mint = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
    const token = {
      ...event,
      caip2: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
      asset: { type: 'spl', mint },
      recipient: '4Nd1mYQtLrTnJ8uXyZ3vWkEoPbScGhAiDfRjKqMxN5U7',
      transaction_hash: '5'.repeat(88),
    }
    expect(read('privy', 'webhook', token)).toMatchObject({
      claim: { deposit: { network: 'solana', asset: `solana/${mint}` } },
    })
  })

  test('other events are passed over, an unknown network is named', () => {
    const withdrawn = { ...event, type: 'wallet.funds_withdrawn' }
    expect(read('privy', 'webhook', withdrawn)).toMatchObject({ kind: 'ignored' })
    expect(read('privy', 'webhook', { ...event, caip2: 'eip155:137' })).toMatchObject({
      kind: 'schema_drift',
      path: 'caip2',
    })
  })
})

describe('bridge', () => {
  const event = sample('bridge') as { event_object: Json } & Json
  const transfer = event.event_object
  const claim = {
    kind: 'claim',
    serviceId: 'b1946ac9-2f5d-4e0a-8c77-19d3f0a4e6b2',
    owner: null,
    status: 'settled',
    deposit: {
      network: 'base',
      address,
      asset: 'base/0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
      amount: 250_750_000n,
      tx: hash('3'),
      index: null,
    },
    settlement: {
      network: 'mainnet',
      address: '0x00000000000000000000000000000000000000dd',
      asset: 'mainnet/0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48',
      amount: 250_500_000n,
      tx: hash('4'),
      fee: null,
    },
    receivedAt,
  }

  test('a webhook and a record say the same, each at its own time', () => {
    expect(read('bridge', 'webhook', event)).toEqual({
      kind: 'claim',
      claim: { ...claim, source: 'webhook', occurredAt: new Date('2026-11-03T10:04:31.500Z') },
    })
    expect(read('bridge', 'api', transfer)).toEqual({
      kind: 'claim',
      claim: { ...claim, source: 'api', occurredAt: new Date('2026-11-03T10:04:30.250Z') },
    })
  })

  test('every documented state has a meaning', () => {
    const states = [
      'awaiting_funds',
      'canceled',
      'in_review',
      'funds_received',
      'payment_submitted',
      'undeliverable',
      'returned',
      'missing_return_policy',
      'refund_in_flight',
      'refund_failed',
      'error',
      'refunded',
      'kyc_required',
    ]
    const found = meanings('bridge', states, (state) => ({ ...transfer, state }))
    expect(Object.fromEntries(found)).toEqual({
      awaiting_funds: 'ignored',
      canceled: 'ignored',
      in_review: 'held',
      funds_received: 'confirmed',
      payment_submitted: 'settling',
      undeliverable: 'held',
      returned: 'held',
      missing_return_policy: 'held',
      refund_in_flight: 'held',
      refund_failed: 'held',
      error: 'held',
      refunded: 'refunded',
      kyc_required: 'unknown_status',
    })
  })

  test('a transfer without transactions yet is read, from and to a bank is passed over', () => {
    const receipt = { initial_amount: '250.75', final_amount: '250.5' }
    expect(read('bridge', 'api', { ...transfer, state: 'funds_received', receipt })).toMatchObject({
      claim: { status: 'confirmed', deposit: { tx: null }, settlement: { tx: null, amount: 250_500_000n } },
    })
    const destination = { payment_rail: 'ach', currency: 'usd', external_account_id: 'ea_1' }
    expect(read('bridge', 'api', { ...transfer, destination })).toMatchObject({ kind: 'ignored' })
    const instructions = { payment_rail: 'wire', amount: '250.75', currency: 'usd' }
    expect(read('bridge', 'api', { ...transfer, source_deposit_instructions: instructions })).toMatchObject({
      kind: 'ignored',
    })
    const drain = { ...event, event_category: 'liquidation_address.drain' }
    expect(read('bridge', 'webhook', drain)).toMatchObject({ kind: 'ignored' })
  })

  test('a page leads on after its last transfer, and an empty one ends the list', () => {
    expect(nextOf('bridge', { count: 2, data: [{ id: 'a' }, transfer] })).toBe(transfer.id)
    expect(nextOf('bridge', { count: 0, data: [] })).toBeUndefined()
  })
})

describe('cryptoprocessing', () => {
  const callback = sample('cryptoprocessing') as { crypto_address: Json; currency_sent: Json } & Json

  test('the currency says the network, and the id of the address the owner', () => {
    expect(read('cryptoprocessing', 'webhook', callback)).toEqual({
      kind: 'claim',
      claim: {
        kind: 'claim',
        source: 'webhook',
        serviceId: '90417',
        owner: { kind: 'stable_wallet', id: 'shop:88' },
        status: 'settled',
        deposit: {
          network: 'base',
          address,
          asset: 'base/native',
          amount: 300_000_000_000_000_000n,
          tx: hash('5'),
          index: null,
        },
        settlement: null,
        occurredAt: receivedAt,
        isUndated: true,
        receivedAt,
      },
    })
  })

  test('an exchange on arrival changes nothing of the payment', () => {
    const exchanged = {
      ...callback,
      type: 'deposit_exchange',
      crypto_address: { ...callback.crypto_address, convert_to: 'EUR' },
      currency_received: { currency: 'EUR', amount: '900.10', amount_minus_fee: '891.09' },
    }
    const { claim } = read('cryptoprocessing', 'webhook', callback) as { claim?: unknown }
    expect(read('cryptoprocessing', 'webhook', exchanged)).toEqual({ kind: 'claim', claim })
  })

  test('every documented word has a meaning; others, and other currencies, are named', () => {
    const statuses = ['not_confirmed', 'confirmed', 'cancelled', 'too_small']
    expect(meanings('cryptoprocessing', statuses, (status) => ({ ...callback, status }))).toEqual([
      ['not_confirmed', 'observed'],
      ['confirmed', 'settled'],
      ['cancelled', 'failed'],
      ['too_small', 'unknown_status'],
    ])
    const kinds = ['exchange', 'withdrawal', 'withdrawal_exchange', 'invoice', 'fee'].map(
      (type) => read('cryptoprocessing', 'webhook', { ...callback, type }).kind,
    )
    expect(kinds).toEqual(['ignored', 'ignored', 'ignored', 'ignored', 'unknown_event'])
    const sent = { currency: 'LTC', amount: '1.5' }
    expect(read('cryptoprocessing', 'webhook', { ...callback, currency_sent: sent })).toMatchObject({
      kind: 'schema_drift',
      path: 'currency_sent.currency',
      problem: 'unknown asset LTC',
    })
  })
})
