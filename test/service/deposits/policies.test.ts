import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Address, NetworkName } from '../../../src/core/asset.ts'
import { convertDeposits } from '../../../src/service/deposits/convert-deposits.ts'
import { deletePolicy, putPolicy } from '../../../src/service/deposits/policy.ts'
import type { ServiceTransaction } from '../../../src/service/tables.ts'
import { until } from '../../support/until.ts'
import { countWaiting } from '../../support/waiting.ts'
import { type Book, openBook } from '../book.ts'

const rule = {
  forward_network: 'base' as NetworkName,
  forward_asset: 'USDC',
  forward_recipient: '0x00000000000000000000000000000000000000aa' as Address,
}

let book: Book
let made = 0

beforeAll(async () => {
  book = await openBook()
})

afterAll(() => book.close())

/** The id of a new channel with one final deposit. */
async function deposited(): Promise<string> {
  const number = ++made
  const id = `channel-${number}`
  const { evm_address: address } = await book.keep({ kind: 'channel', id, ...rule })
  await book.record([{ ...book.payment(number, true), address }], BigInt(number))
  return id
}

async function statusOf(id: string): Promise<string | undefined> {
  return (await book.list(`owner=${id}`)).data[0]?.status
}

function convert(): Promise<number> {
  const prices = { current: () => ({ 'ETH/USDC': '3000' }), refresh: () => Promise.resolve() }
  const terms = { feeBasisPoints: 0, spreadBasisPoints: 0 }
  return convertDeposits({ ...book, terms, prices }, 'mainnet' as NetworkName)
}

/** Keeps a lock until it is let go. */
async function hold(lock: (tx: ServiceTransaction) => Promise<unknown>): Promise<() => Promise<void>> {
  const [locked, letGo] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const holding = book.db.transaction().execute(async (tx) => {
    await lock(tx)
    locked.resolve()
    await letGo.promise
  })
  await Promise.race([locked.promise, holding])
  return () => {
    letGo.resolve()
    return holding
  }
}

test.each([
  ['put', (id: string) => putPolicy(book.db, { kind: 'channel', id }, { hold: true })],
  ['deleted', (id: string) => deletePolicy(book.db, { kind: 'channel', id })],
])('a policy that is %s while deposits are decided waits for what was decided', async (_what, write) => {
  const id = await deposited()
  const letGo = await hold((tx) =>
    sql`select from service.deposit where owner_id = ${id} for update`.execute(tx),
  )
  const converted = convert()
  await until('the decision waits', async () => (await countWaiting(book.db)) === 1 || null)
  const ended: string[] = []
  const written = write(id).then(() => ended.push('written'))
  await until(
    'the policy waits too',
    async () => (await countWaiting(book.db)) === 2 || ended.length > 0 || null,
  )
  expect(ended).toEqual([])
  await letGo()
  await Promise.all([converted, written])
  expect(await statusOf(id)).toBe('converting')
})

test('a policy that is put before a deposit is decided holds it', async () => {
  const id = await deposited()
  const letGo = await hold(async (tx) => {
    await sql`select from service.owner where id = ${id} for no key update`.execute(tx)
    await sql`insert into service.policy (owner_kind, owner_id, body) values ('channel', ${id}, '{"hold": true}')`.execute(
      tx,
    )
  })
  const ended: string[] = []
  const converted = convert().then(() => ended.push('converted'))
  await until(
    'the decision waits',
    async () => (await countWaiting(book.db)) === 1 || ended.length > 0 || null,
  )
  await letGo()
  await converted
  expect(await statusOf(id)).toBe('held')
})
