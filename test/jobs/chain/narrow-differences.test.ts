import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Fault } from '../../../src/core/errors.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { channelAddress, usdtOnBase } from '../../support/evidence.ts'
import { type Happening, type MadeUpChain, provenSubject, startChain } from '../../support/made-up-chain.ts'

let books: Books
let chain: MadeUpChain

beforeEach(async () => {
  books = await openBooks()
  chain = await startChain(books)
})
afterEach(() => books[Symbol.asyncDispose]())

describe('a balance that changed unseen', () => {
  test('is narrowed to its block, and stays open while nothing explains it', async () => {
    await chain.prove()
    await chain.happen(
      { height: 150n, change: 70n, shown: 'scan' },
      { height: 637n, change: -11n, shown: 'never' },
    )
    await chain.scanTo(1100n)
    expect(await chain.prove()).toMatchObject({
      changes: [{ kind: 'unexplained_balance', change: 'opened' }],
    })
    expect(await chain.unexplained()).toEqual([
      {
        subject: provenSubject,
        value: '11',
        detail: { address: channelAddress, change: '-11', blocks: '637' },
      },
    ])
    expect(chain.asked.filter((one) => one.startsWith('balances')).length).toBeLessThanOrEqual(2 + 10)
    expect(chain.asked.at(-1)).toBe('range 637-637 traced')
    await chain.scanTo(1200n)
    expect(await chain.prove()).toMatchObject({ changes: [] })
    expect(chain.asked).toEqual(['balances 1200', 'balances 1200', 'movements 1101-1200'])
    expect(await chain.unexplained()).toHaveLength(1)
  })

  test('in several blocks names each of them', async () => {
    await chain.prove()
    const never = { shown: 'never' } as const
    await chain.happen({ height: 120n, change: 5n, ...never }, { height: 130n, change: -5n, ...never })
    await chain.happen({ height: 140n, change: 2n, ...never }, { height: 141n, change: 1n, ...never })
    await chain.scanTo(200n)
    await chain.prove()
    const [open] = await chain.unexplained()
    expect(open?.value).toBe('13')
    expect(open?.detail).toMatchObject({ change: '3', blocks: '120, 130, 140, 141' })
  })

  test('is found also where it was sent on before anybody looked', async () => {
    await chain.prove()
    await chain.happen({ height: 163n, change: 9n, shown: 'never' })
    await chain.happen({ height: 170n, change: -9n, shown: 'asked' })
    await chain.scanTo(200n)
    await chain.prove()
    expect(await chain.unexplained()).toMatchObject([{ value: '9', detail: { change: '9', blocks: '163' } }])
  })

  test('is closed and stored as a payment where a second reading of the block shows it', async () => {
    await chain.prove()
    await chain.happen({ height: 163n, change: 9n, shown: 'reread' })
    await chain.scanTo(200n)
    expect(await chain.prove()).toMatchObject({ stored: 1, changes: [] })
    expect(await chain.unexplained()).toEqual([])
    await books.settle()
    const { rows } = await sql`select amount, state from deposit`.execute(books.db)
    expect(rows).toEqual([{ amount: '9', state: 'confirmed' }])
  })

  test('is closed once what explains it comes by another way', async () => {
    await chain.prove()
    const hidden: Happening = { height: 163n, change: 9n, shown: 'never' }
    await chain.happen(hidden)
    await chain.scanTo(200n)
    await chain.prove()
    await chain.show(hidden)
    expect(await chain.prove()).toMatchObject({
      changes: [{ kind: 'unexplained_balance', change: 'cleared' }],
    })
  })

  test('in one block is looked for there again after an hour, when a node may tell more', async () => {
    await chain.prove()
    const hidden: Happening = { height: 163n, change: 9n, shown: 'never' }
    await chain.happen(hidden)
    await chain.scanTo(200n)
    await chain.prove()
    hidden.shown = 'reread'
    expect(await chain.prove()).toMatchObject({ stored: 0, changes: [] })
    chain.minutes += 61
    expect(await chain.prove()).toMatchObject({ stored: 1, changes: [{ change: 'cleared' }] })
  })

  test('keeps its interval, and says why, where the node no longer has the balances', async () => {
    await chain.prove()
    await chain.happen({ height: 163n, change: 9n, shown: 'never' })
    await chain.scanTo(1100n)
    chain.forgotten = 900n
    await chain.prove()
    expect(await chain.unexplained()).toMatchObject([
      { detail: { blocks: '101-901', problem: 'the node no longer has the balances of block 900' } },
    ])
    expect(chain.asked.at(-1)).toBe('range 101-901')
    await chain.prove()
    expect(chain.asked).toEqual(['balances 1100', 'balances 1100'])
    chain.forgotten = -1n
    chain.minutes += 61
    await chain.prove()
    expect(await chain.unexplained()).toMatchObject([{ detail: { blocks: '163' } }])
  })

  test('is told no more once the asset is no longer read', async () => {
    await chain.prove()
    await chain.happen({ height: 163n, change: 9n, shown: 'never' })
    await chain.scanTo(200n)
    await chain.prove()
    chain.assets = [usdtOnBase]
    expect(await chain.prove()).toMatchObject({ changes: [{ change: 'cleared' }] })
  })

  test('is told also where nodes disagree about its block, or reading it fails altogether', async () => {
    await chain.prove()
    await chain.happen({ height: 163n, change: 9n, shown: 'never' })
    await chain.scanTo(200n)
    chain.rereadError = new Fault('rpc_disagreement', { network: 'base', problem: 'two nodes differ' })
    await chain.prove()
    const reported = { blocks: '163', problem: expect.stringContaining('two nodes differ') }
    expect(await chain.unexplained()).toMatchObject([{ detail: reported }])
    await chain.happen({ height: 210n, change: 1n, shown: 'never' })
    await chain.scanTo(220n)
    chain.rereadError = new Error('broken')
    await expect(chain.prove()).rejects.toThrow('broken')
    expect(await chain.unexplained()).toMatchObject([{ value: '10' }])
  })

  test('again and again is told as one stretch in the end', async () => {
    await chain.prove()
    for (let height = 110n; height <= 340n; height += 10n) {
      await chain.happen({ height, change: 1n, shown: 'never' })
      await chain.scanTo(height)
      await chain.prove()
    }
    const [open] = await chain.unexplained()
    expect(open?.value).toBe('24')
    const { rows } = await sql`select 1 from balance_difference`.execute(books.db)
    expect(rows.length).toBeLessThanOrEqual(20)
  })
})
