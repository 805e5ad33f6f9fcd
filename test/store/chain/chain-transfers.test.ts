import { afterAll, beforeEach, expect, test } from 'vitest'
import type { ObservedChainTransfer } from '../../../src/core/evidence.ts'
import {
  appendChainTransfers,
  rewoundChainTransfers,
  vanishedChainTransfers,
} from '../../../src/store/chain/chain-transfers.ts'
import { inTransaction } from '../../../src/store/database.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { base, delivery, payment, txId } from '../../support/evidence.ts'

let books: Books | undefined

beforeEach(async () => {
  await books?.[Symbol.asyncDispose]()
  books = await openBooks()
})
afterAll(() => books?.[Symbol.asyncDispose]())

function store(...chainTransfers: ObservedChainTransfer[]): Promise<number> {
  return inTransaction(opened().db, (tx) => appendChainTransfers(tx, chainTransfers))
}

function opened(): Books {
  if (books === undefined) throw new Error('each test has its books')
  return books
}

const vanished = (above: bigint, upTo: bigint) =>
  inTransaction(opened().db, (tx) => vanishedChainTransfers(tx, { network: 'base', above, upTo }))
const rewound = (above: bigint) =>
  inTransaction(opened().db, (tx) => rewoundChainTransfers(tx, 'base', above))

const seen = payment({ stage: 'seen' })

test('the same chain_transfer in the same block is stored once, another stage or block again', async () => {
  expect(await store(seen)).toBe(1)
  expect(await store(seen, payment())).toBe(1)
  expect(await store({ ...seen, blockHash: '0xother' })).toBe(1)
  expect(await store({ ...seen, epoch: 1 })).toBe(1)
  expect(await store()).toBe(0)
})

test('a transfer to an address that is watched as both is two chain_transfers', async () => {
  const place = { network: base, tx: txId('both'), index: '7' }
  expect(await store(payment(place), delivery(place))).toBe(2)
})

test('twenty readers of one block store each of its transfers once', async () => {
  const all = Array.from({ length: 20 }, (_, place) => payment({ index: String(place) }))
  const race = all.map((_one, turn) => store(...all.slice(turn), ...all.slice(0, turn)))
  const counts = await Promise.all(race)
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(20)
})

test('an early chain_transfer has vanished when its height is final without it', async () => {
  await store(seen)
  expect(await vanished(0n, 9n)).toEqual([])
  expect(await vanished(10n, 20n)).toEqual([])
  expect(await vanished(9n, 10n)).toEqual([seen])
})

test('an early chain_transfer that became final, even in another block, has not vanished', async () => {
  await store(seen, payment({ height: 12n, blockHash: '0xlater' }))
  expect(await vanished(0n, 20n)).toEqual([])
})

test('what was withdrawn is not withdrawn again', async () => {
  await store(seen)
  await store(payment({ stage: 'orphaned' }))
  expect(await vanished(0n, 20n)).toEqual([])
  await store(payment({ index: '2' }), payment({ index: '2', stage: 'orphaned', epoch: 1 }))
  expect(await rewound(0n)).toEqual([])
})

test('what was withdrawn and seen again vanishes again; what was final again has not', async () => {
  const again = payment({ stage: 'seen', epoch: 1, height: 12n, blockHash: '0xagain' })
  await store(seen)
  await store(payment({ stage: 'orphaned' }))
  await store(again)
  expect(await vanished(0n, 20n)).toEqual([again])
  await store(payment({ epoch: 1, height: 12n, blockHash: '0xagain' }))
  expect(await vanished(0n, 20n)).toEqual([])
})

test('what was final before it was told of as seen has not vanished', async () => {
  await store(payment())
  await store(seen)
  expect(await vanished(0n, 20n)).toEqual([])
})

test('what was final above the height from which history changed is found, and nothing below it', async () => {
  const [low, high] = [payment(), payment({ index: '1', height: 11n })]
  await store(low, high)
  expect(await rewound(10n)).toEqual([high])
  expect(await rewound(9n)).toEqual([low, high])
  expect(await rewound(11n)).toEqual([])
})

test('what was withdrawn and then final again can be withdrawn again', async () => {
  const again = payment({ epoch: 1, blockHash: '0xagain' })
  await store(payment())
  await store(payment({ stage: 'orphaned', epoch: 1 }))
  await store(again)
  expect(await rewound(0n)).toEqual([again])
})

test('other networks are left alone', async () => {
  await store(delivery({ stage: 'seen' }), delivery({ index: '1' }))
  expect(await vanished(0n, 20n)).toEqual([])
  expect(await rewound(0n)).toEqual([])
})
