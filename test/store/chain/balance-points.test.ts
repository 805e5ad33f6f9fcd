import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Amount } from '../../../src/core/money.ts'
import { addDifferences } from '../../../src/store/chain/balance-differences.ts'
import {
  dueHoldings,
  knownChanges,
  rewindBalances,
  saveReadings,
} from '../../../src/store/chain/balance-points.ts'
import { appendMovements } from '../../../src/store/chain/chain-transfers.ts'
import { inTransaction } from '../../../src/store/database.ts'
import { type Books, openBooks } from '../../support/books.ts'
import {
  at,
  base,
  channelAddress,
  delivery,
  payment,
  txId,
  usdcOnBase,
  usdtOnBase,
  walletAddress,
} from '../../support/evidence.ts'
import { startChain } from '../../support/made-up-chain.ts'

let books: Books

beforeEach(async () => {
  books = await openBooks()
  await startChain(books)
})
afterEach(() => books[Symbol.asyncDispose]())

const holding = { network: base, address: channelAddress, asset: usdcOnBase }

async function known(above: bigint, upTo: bigint): Promise<bigint | undefined> {
  const [change] = await knownChanges(books.db, [{ holding, above, upTo }])
  return change
}

/** A payment of so much at that height. */
const paid = (height: bigint, amount: bigint) =>
  payment({ tx: txId(`${height}`), height, blockHash: `0x${height}`, amount: amount as Amount })

describe('what is known to have changed', () => {
  test('is above the first height and up to the second', async () => {
    await books.receive(paid(110n, 1n), paid(111n, 10n), paid(120n, 100n), paid(121n, 1000n))
    expect(await known(110n, 120n)).toBe(110n)
    expect(await known(120n, 120n)).toBe(0n)
  })

  test('is of that address and asset, received there, and final', async () => {
    await books.receive(
      paid(111n, 1n),
      { ...paid(112n, 10n), to: walletAddress },
      { ...paid(113n, 100n), asset: usdtOnBase },
      { ...paid(114n, 1000n), stage: 'seen' },
      delivery({ network: base, asset: usdcOnBase, to: channelAddress, height: 115n }),
    )
    expect(await known(110n, 120n)).toBe(1n)
  })

  test('counts a payment once, however often it was read, and in its newest block', async () => {
    await books.receive(paid(111n, 1n), { ...paid(111n, 1n), epoch: 1 })
    expect(await known(110n, 120n)).toBe(1n)
  })

  test('counts no payment that was withdrawn, and one that came again', async () => {
    await books.receive(paid(111n, 1n), { ...paid(111n, 1n), stage: 'orphaned', epoch: 1 })
    expect(await known(110n, 120n)).toBe(0n)
    await books.receive({ ...paid(111n, 1n), height: 115n, blockHash: '0xnew', epoch: 1 })
    expect(await known(110n, 120n)).toBe(1n)
  })

  test('takes in all other movements, whichever way they go', async () => {
    const place = {
      network: base,
      tx: txId('out'),
      blockHash: '0x111',
      address: channelAddress,
      asset: usdcOnBase,
      recipients: [],
    }
    await inTransaction(books.db, (tx) =>
      appendMovements(tx, [
        { ...place, index: '0', height: 111n, change: -7n },
        { ...place, index: '1', height: 111n, change: 2n },
        { ...place, index: '2', height: 130n, change: 50n },
      ]),
    )
    expect(await known(110n, 120n)).toBe(-5n)
  })
})

const save = (height: bigint, amount: bigint) =>
  inTransaction(books.db, (tx) => saveReadings(tx, { height, at: at(Number(height)) }, [{ holding, amount }]))

test('of twenty processes that read a balance for the first time, one makes the point', async () => {
  await Promise.all(Array.from({ length: 20 }, () => save(110n, 5n)))
  const { rows } = await sql`select reading, height from balance_point`.execute(books.db)
  expect(rows).toEqual([{ reading: '5', height: 99n }])
})

test('of twenty that find a difference, one stores it', async () => {
  await save(110n, 5n)
  const found = [{ holding, start: { height: 99n, amount: 0n }, end: { height: 110n, amount: 5n } }]
  await Promise.all(
    Array.from({ length: 20 }, () => inTransaction(books.db, (tx) => addDifferences(tx, found))),
  )
  const { rows } = await sql`select change from balance_difference`.execute(books.db)
  expect(rows).toEqual([{ change: '5' }])
})

async function due() {
  const wanted = { network: base, assets: [usdcOnBase], readBefore: at(200), limit: 10 }
  return (await dueHoldings(books.db, wanted)).map(({ address }) => address)
}

test('what was never read is due first, then what was read longest ago; what waits is not due', async () => {
  expect(await due()).toEqual([channelAddress, walletAddress])
  await save(99n, 5n)
  expect(await due()).toEqual([walletAddress, channelAddress])
  await save(120n, 5n)
  expect(await due()).toEqual([walletAddress])
})

test('each asset has its turn: one that is never read takes it from no other', async () => {
  const read = [channelAddress, walletAddress].map((address) => ({
    holding: { ...holding, address },
    amount: 5n,
  }))
  await inTransaction(books.db, (tx) => saveReadings(tx, { height: 99n, at: at(1) }, read))
  const wanted = {
    network: base,
    assets: [usdcOnBase, usdtOnBase],
    readBefore: at(200),
    limit: 2,
  }
  const found = await dueHoldings(books.db, wanted)
  expect(found.map(({ asset }) => asset)).toEqual([usdcOnBase, usdtOnBase])
})

test('a balance of the height just below the first that is read is what was held before', async () => {
  await save(99n, 5n)
  const { rows } = await sql`select opening, opening_is, height, reading from balance_point`.execute(books.db)
  expect(rows).toEqual([{ opening: '5', opening_is: 'read', height: 99n, reading: null }])
})

test('an opening above what is left of the chain goes as well', async () => {
  await save(110n, 5n)
  await inTransaction(books.db, (tx) => rewindBalances(tx, base, 98n))
  expect((await sql`select 1 from balance_point`.execute(books.db)).rows).toEqual([])
})
