import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { rewindBalances } from '../../../src/store/chain/balance-points.ts'
import { withdrawCoverage } from '../../../src/store/chain/coverage.ts'
import { inTransaction } from '../../../src/store/database.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { base, channelAddress, usdcOnBase, usdtOnBase } from '../../support/evidence.ts'
import { type Happening, type MadeUpChain, provenSubject, startChain } from '../../support/made-up-chain.ts'

let books: Books
let chain: MadeUpChain

beforeEach(async () => {
  books = await openBooks()
  chain = await startChain(books)
})
afterEach(() => books[Symbol.asyncDispose]())

describe('a balance that is explained', () => {
  test('costs one request for each asset and one for what was sent, and opens nothing', async () => {
    await chain.happen(
      { height: 101n, change: 70n, shown: 'scan' },
      { height: 105n, change: -30n, shown: 'scan' },
    )
    await chain.scanTo(110n)
    expect(await chain.prove()).toMatchObject({ read: 4, stored: 0, changes: [], problems: [] })
    expect(chain.asked).toEqual(['balances 110', 'balances 110', 'movements 100-110'])
    await chain.happen({ height: 111n, change: 5n, shown: 'scan' })
    await chain.scanTo(120n)
    await chain.prove()
    expect(chain.asked).toEqual(['balances 120', 'balances 120', 'movements 111-120'])
    expect(await chain.unexplained()).toEqual([])
  })

  test('by what scans do not show is asked for once', async () => {
    await chain.prove()
    await chain.happen(
      { height: 101n, change: 70n, shown: 'scan' },
      { height: 105n, change: -70n, shown: 'asked' },
    )
    await chain.scanTo(110n)
    await chain.prove()
    expect(chain.asked).toEqual(['balances 110', 'balances 110', 'movements 101-110'])
    await chain.scanTo(120n)
    await chain.prove()
    expect(chain.asked).toEqual(['balances 120', 'balances 120', 'movements 111-120'])
    expect(await chain.unexplained()).toEqual([])
  })
})

describe('a reading', () => {
  test('waits until everything up to it was read: a gap is no difference', async () => {
    await chain.prove()
    const late: Happening = { height: 105n, change: 70n, shown: 'scan' }
    chain.happenings.push(late)
    await chain.scanTo(110n, false)
    await chain.prove()
    await chain.prove()
    expect(await chain.unexplained()).toEqual([])
    await chain.happen({ ...late, change: 0n, shown: 'never' })
    await chain.show(late)
    await chain.scanTo(110n)
    await chain.prove()
    const { rows } = await sql`
      select balance from balance_point where height = 110 and reading is null and balance > 0`.execute(
      books.db,
    )
    expect(rows).toEqual([{ balance: '70' }])
    expect(await chain.unexplained()).toEqual([])
  })

  test('of one asset that does not answer keeps the others from nothing', async () => {
    chain.unreadable = usdtOnBase
    await chain.happen({ height: 100n, change: 70n, shown: 'never' })
    await chain.scanTo(110n)
    expect(await chain.prove()).toMatchObject({ problems: [expect.stringContaining('execution reverted')] })
    expect(await chain.unexplained()).toMatchObject([{ subject: provenSubject, detail: { blocks: '100' } }])
  })

  test('whose stretch no node tells of keeps the others from nothing, and is made anew', async () => {
    chain.unreadable = usdtOnBase
    await chain.scanTo(110n)
    await chain.prove()
    chain.unreadable = null
    chain.unsent = 100n
    await chain.happen({ height: 115n, change: 70n, shown: 'never' })
    await chain.scanTo(120n)
    const problems = [expect.stringContaining('outgoing transfers from 100 to 120')]
    expect(await chain.prove()).toMatchObject({ problems })
    expect(await chain.unexplained()).toMatchObject([{ subject: provenSubject, detail: { blocks: '115' } }])
    chain.unsent = null
    await chain.scanTo(130n)
    expect(await chain.prove()).toMatchObject({ read: 4, problems: [] })
    expect(chain.asked).toContain('movements 100-130')
  })

  test('waits where only addresses that were numbered before were read', async () => {
    await sql`update chain_watch set number = 3 where address = ${channelAddress}`.execute(books.db)
    await chain.happen({ height: 105n, change: 70n, shown: 'never' })
    await chain.scanTo(110n)
    await chain.prove()
    expect(await chain.unexplained()).toEqual([])
  })

  test('is of one process at a time, and of any other after that', async () => {
    const others: unknown[] = []
    chain.meanwhile = async () => {
      chain.meanwhile = () => Promise.resolve()
      others.push(await chain.prove('another'))
    }
    await chain.prove('me')
    expect(others).toEqual(['busy'])
    expect(await chain.prove('another')).toMatchObject({ problems: [] })
  })
})

describe('what an address held before it was read', () => {
  test('is read where the node still knows', async () => {
    await chain.happen(
      { height: 50n, change: 1000n, shown: 'never' },
      { height: 105n, change: 1n, shown: 'never' },
    )
    await chain.scanTo(110n)
    await chain.prove()
    expect(await chain.unexplained()).toMatchObject([{ value: '1', detail: { blocks: '105' } }])
  })

  test('is what is left, where it cannot be read and the network was read for the first time then', async () => {
    await chain.happen(
      { height: 50n, change: 1000n, shown: 'never' },
      { height: 105n, change: 1n, shown: 'scan' },
    )
    await chain.scanTo(110n)
    chain.forgotten = 110n
    await chain.prove()
    expect(await chain.unexplained()).toEqual([])
    const { rows } = await sql`select opening, opening_is from balance_point where opening > 0`.execute(
      books.db,
    )
    expect(rows).toEqual([{ opening: '1000', opening_is: 'left' }])
    await chain.happen({ height: 115n, change: 1n, shown: 'never' })
    await chain.scanTo(120n)
    await chain.prove()
    expect(await chain.unexplained()).toMatchObject([{ value: '1' }])
  })

  test('is nothing, for an address that came later', async () => {
    await sql`update chain_watch set enrolled_at = now() + interval '1 minute' where address = ${channelAddress}`.execute(
      books.db,
    )
    await chain.happen({ height: 105n, change: 1n, shown: 'never' })
    await chain.scanTo(110n)
    chain.forgotten = 110n
    await chain.prove()
    expect(await chain.unexplained()).toMatchObject([{ value: '1', detail: { blocks: '100-110' } }])
  })

  test('is what is left, for an address that came later and is older than where the settings let reading begin', async () => {
    await sql`update chain_watch set enrolled_at = now() + interval '1 minute' where address = ${channelAddress}`.execute(
      books.db,
    )
    await chain.happen(
      { height: 50n, change: 1000n, shown: 'never' },
      { height: 105n, change: 1n, shown: 'scan' },
    )
    await chain.scanTo(110n)
    chain.forgotten = 110n
    chain.startHeight = 100n
    await chain.prove()
    expect(await chain.unexplained()).toEqual([])
  })
})

test('after final history changed, balances are proved again from the beginning', async () => {
  await chain.prove()
  await chain.happen(
    { height: 105n, change: 70n, shown: 'scan' },
    { height: 160n, change: 5n, shown: 'never' },
  )
  await chain.scanTo(200n)
  await chain.prove()
  expect(await chain.unexplained()).toHaveLength(1)
  chain.happenings = chain.happenings.filter(({ shown }) => shown === 'scan')
  await inTransaction(books.db, async (tx) => {
    await withdrawCoverage(tx, base, { from: 151n, to: null })
    await rewindBalances(tx, base, 150n)
  })
  await chain.scanTo(210n)
  expect(await chain.prove()).toMatchObject({ changes: [{ change: 'cleared' }] })
  const { rows } = await sql`
    select balance, height from balance_point where address = ${channelAddress} and asset = ${usdcOnBase}`.execute(
    books.db,
  )
  expect(rows).toEqual([{ balance: '70', height: 210n }])
})

const points = async () => (await sql`select 1 from balance_point`.execute(books.db)).rows

describe('a run of which another got ahead meanwhile', () => {
  test('stores nothing where final history changed', async () => {
    chain.meanwhile = () => chain.scanTo(110n, true, 1)
    await expect(chain.prove()).rejects.toThrow('the final history of base changed')
    expect(await points()).toEqual([])
  })

  test('stores nothing where its lease was lost', async () => {
    chain.meanwhile = async () => {
      await sql`update stream set holder = 'another', fence = fence + 1 where name = 'balances/base'`.execute(
        books.db,
      )
    }
    await expect(chain.prove()).rejects.toThrow('lease_lost')
    expect(await points()).toEqual([])
  })
})
