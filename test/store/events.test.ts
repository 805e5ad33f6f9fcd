import { randomUUID } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { AssetKey } from '../../src/core/asset.ts'
import { eventTypes } from '../../src/core/event.ts'
import { sealBooks } from '../../src/jobs/books/seal-books.ts'
import { pinAssets } from '../../src/store/assets.ts'
import { inTransaction } from '../../src/store/database.ts'
import { insertDecision } from '../../src/store/decisions.ts'
import { eventsAfter, type FeedEvent, numberEvents, readFeed } from '../../src/store/events.ts'
import { clearMismatches, type HeldMismatch, openMismatches } from '../../src/store/mismatches/mismatches.ts'
import type { Tables } from '../../src/store/tables.ts'
import { type Books, openBooks } from '../support/books.ts'
import { base, claim, liquidity, payment, policy } from '../support/evidence.ts'

let books: Books
beforeEach(async () => (books = await openBooks()))
afterEach(() => books[Symbol.asyncDispose]())

/** As the transaction that makes them true does. */
async function insert(db: Kysely<Tables>, deposit: number | null, ...places: number[]): Promise<void> {
  await sql`
    insert into event_pending (type, deposit_id, data)
    select 'deposit.observed', ${deposit}::bigint, jsonb_build_object('place', place)
    from unnest(${places}::int[]) with ordinality as one (place, row) order by row`.execute(db)
}

const all = (filter = {}) => eventsAfter(books.db, 0n, { limit: 10_000, ...filter })

function isGapless(events: readonly FeedEvent[]): boolean {
  return events.every(({ sequence }, place) => sequence === BigInt(place + 1))
}

/** Of each deposit, the places in order of the numbers. @throws if an event does not follow the one before it */
function placesOf(events: readonly FeedEvent[]): Map<bigint | null, unknown[]> {
  const last = new Map<bigint | null, bigint>()
  for (const { depositId, previous, sequence } of events) {
    if (depositId !== null && previous !== (last.get(depositId) ?? null))
      throw new Error(`${sequence} follows none`)
    last.set(depositId, sequence)
  }
  const groups = Map.groupBy(events, ({ depositId }) => depositId)
  return new Map([...groups].map(([deposit, some]) => [deposit, some.map(({ data }) => data.place)]))
}

test('an event is read once it has a number, and keeps its id', async () => {
  await insert(books.db, 1, 1)
  expect(await all()).toEqual([])
  const pending = await sql`select event_id as id from event_pending`.execute(books.db)
  await numberEvents(books.db)
  const [event] = await all()
  expect(event).toMatchObject({ sequence: 1n, previous: null, depositId: 1n, type: 'deposit.observed' })
  expect({ id: event?.id }).toEqual(pending.rows[0])
  await numberEvents(books.db)
  expect(await all()).toHaveLength(1)
})

test('concurrent writers, of which some roll back, and several numberers leave no gap and keep the order of each deposit', async () => {
  const deposits = 7
  const rounds = 12
  const write = async (deposit: number) => {
    for (let round = 0; round < rounds; round++) {
      const isUndone = (deposit + round) % 3 === 0
      const done = inTransaction(books.db, async (tx) => {
        await insert(tx, deposit, round * 2, round * 2 + 1)
        await sql`select pg_sleep(random() * 0.01)`.execute(tx)
        if (isUndone) throw new Error('rolled back')
      })
      await (isUndone ? expect(done).rejects.toThrow('rolled back') : done)
    }
  }
  const writing = new AbortController()
  const number = async () => {
    while (!writing.signal.aborted) await numberEvents(books.db)
  }
  const numbering = [number(), number(), number()]
  await Promise.all(Array.from({ length: deposits }, (_none, place) => write(place + 1)))
  writing.abort()
  await Promise.all(numbering)
  await numberEvents(books.db)
  const events = await all()
  expect(isGapless(events)).toBe(true)
  const expected = Array.from({ length: deposits }, (_none, place) => {
    const kept = Array.from({ length: rounds }, (_round, round) => round).filter(
      (round) => (place + 1 + round) % 3 !== 0,
    )
    return [BigInt(place + 1), kept.flatMap((round) => [round * 2, round * 2 + 1])] as const
  })
  expect([...placesOf(events)].toSorted(([one], [other]) => Number((one ?? 0n) - (other ?? 0n)))).toEqual(
    expected,
  )
})

test('what commits late is numbered late, and is not lost', async () => {
  const committed = Promise.withResolvers<void>()
  const late = inTransaction(books.db, async (tx) => {
    await insert(tx, 1, 1)
    await committed.promise
  })
  await until(books.db)
  await insert(books.db, 2, 2)
  await numberEvents(books.db)
  expect(await all()).toMatchObject([{ sequence: 1n, depositId: 2n }])
  committed.resolve()
  await late
  await numberEvents(books.db)
  expect(await eventsAfter(books.db, 1n, { limit: 10 })).toMatchObject([
    { sequence: 2n, depositId: 1n, previous: null },
  ])
})

/** Until the other transaction has inserted. */
async function until(db: Kysely<Tables>): Promise<void> {
  for (;;) {
    const { rows } =
      await sql`select from pg_locks where relation = 'event_pending'::regclass and mode = 'RowExclusiveLock'`.execute(
        db,
      )
    if (rows.length > 0) return
  }
}

test('a numberer that dies leaves its events to the next one', async () => {
  await insert(books.db, 1, 1, 2)
  const dying = books.owner.connection().execute(async (connection) => {
    await sql`begin`.execute(connection)
    await sql`select pg_advisory_xact_lock(hashtext('event numbers'))`.execute(connection)
    await sql`delete from event_pending`.execute(connection)
    await sql`select pg_terminate_backend(pg_backend_pid())`.execute(connection)
  })
  await expect(dying).rejects.toThrow(/terminat/)
  await numberEvents(books.db)
  expect(placesOf(await all())).toEqual(new Map([[1n, [1, 2]]]))
})

test('a page ends at its limit, and the next one begins after it; filters take what they name', async () => {
  await insert(books.db, 1, 1, 2, 3)
  await sql`insert into event_pending (type, service, data) values ('mismatch.opened', 'other', '{}')`.execute(
    books.db,
  )
  await numberEvents(books.db)
  const page = async (after: bigint) =>
    (await eventsAfter(books.db, after, { limit: 2 })).map(({ sequence }) => sequence)
  expect([await page(0n), await page(2n), await page(4n)]).toEqual([[1n, 2n], [3n, 4n], []])
  expect(await all({ types: ['mismatch.opened'] })).toMatchObject([{ sequence: 4n }])
  expect(await all({ service: 'other' })).toMatchObject([{ sequence: 4n }])
  expect(await all({ owner: 'shop' })).toEqual([])
})

test('more than one batch is numbered at once', async () => {
  await insert(books.db, null, ...Array.from({ length: 4500 }, (_none, place) => place))
  await numberEvents(books.db)
  const events = await all()
  expect(isGapless(events)).toBe(true)
  expect(events).toHaveLength(4500)
})

test('a filtered page looks at so many events, and the next one goes on after those it looked at', async () => {
  await insert(books.db, null, ...Array.from({ length: 20_005 }, (_none, place) => place))
  await insert(books.db, 1, 1)
  await numberEvents(books.db)
  const filter = { service: 'other', limit: 10 }
  const first = await readFeed(books.db, 0n, filter)
  expect(first).toEqual({ events: [], next: 20_000n, newest: 20_006n })
  expect(await readFeed(books.db, first.next, filter)).toMatchObject({ events: [], next: 20_006n })
  const page = await readFeed(books.db, first.next, { limit: 2 })
  expect([page.events.map(({ sequence }) => sequence), page.next]).toEqual([[20_001n, 20_002n], 20_002n])
})

test('a reversal is of the owner who was credited, whoever owns the deposit since', async () => {
  await books.receive(payment())
  await books.settle()
  const add = async (type: string) => {
    await sql`insert into event_pending (type, deposit_id, data) values (${type}, 1, '{}')`.execute(books.db)
    await numberEvents(books.db)
  }
  await add('deposit.credit_safe')
  await sql`update deposit set owner_id = 'acme' where id = 1`.execute(books.owner)
  await add('deposit.reversed')
  await add('deposit.credit_safe')
  await add('deposit.reversed')
  const owners = (await all()).slice(-4).map(({ owner }) => owner?.id)
  expect(owners).toEqual(['shop', 'shop', 'acme', 'acme'])
})

test('coin for sweeping is no deposit until a source reports it as one', async () => {
  await books[Symbol.asyncDispose]()
  books = await openBooks({ rules: { policy, routes: [], senders: new Set([`base/${liquidity}`]) } })
  const asset = 'base/native' as AssetKey
  await pinAssets(books.db, [{ key: asset, network: base, symbol: 'ETH', decimals: 18 }])
  await books.receive(payment({ from: liquidity, asset }))
  await books.settle()
  const ignored = await sql`select state from deposit`.execute(books.db)
  expect([ignored.rows, await told()]).toEqual([[{ state: 'ignored' }], []])
  await books.receive(claim({ status: 'confirmed', deposit: { asset } }))
  await books.settle()
  const types = (await told()).map(({ type }) => type)
  expect(types.slice(0, 2)).toEqual(['deposit.observed', 'deposit.final'])
})

async function told(): Promise<({ type: string } & object)[]> {
  await numberEvents(books.db)
  return (await all()).map(({ type, data }) => ({ type, ...data }))
}

function held(amount: string): HeldMismatch {
  return { subject: 'network/base', kind: 'rpc_disagreement', network: 'base', detail: { amount } }
}

function request(people: 1 | 2): Promise<bigint> {
  const decision = { decision: randomUUID(), kind: 'close', people } as const
  return inTransaction(books.owner, (tx) => insertDecision(tx, decision, 'a text'))
}

describe('an event is written with', () => {
  test('a mismatch that opens, changes and is cleared', async () => {
    for (const amount of ['1', '1', '2'])
      await inTransaction(books.db, (tx) => openMismatches(tx, [held(amount)]))
    await inTransaction(books.db, (tx) => clearMismatches(tx, 'rpc_disagreement', ['network/base']))
    const about = { mismatch: '1', kind: 'rpc_disagreement', subject: 'network/base', network: 'base' }
    expect(await told()).toMatchObject([
      { ...about, type: 'mismatch.opened', detail: { amount: '1' } },
      { ...about, type: 'mismatch.changed', detail: { amount: '2' } },
      { ...about, type: 'mismatch.cleared' },
    ])
  })

  test('a checkpoint', async () => {
    await books.receive(payment())
    const { checkpoint } = await sealBooks(books.db, null)
    const published = {
      type: 'seal.published',
      root: checkpoint?.root.toString('hex'),
      size: `${checkpoint?.size}`,
    }
    expect(await told()).toMatchObject([published])
    await sealBooks(books.db, null)
    expect(await told()).toHaveLength(1)
  })

  test('a decision that waits for a second person', async () => {
    await request(1)
    const decision = `${await request(2)}`
    expect(await told()).toEqual([{ type: 'approval.requested', decision, kind: 'close' }])
  })
})

describe('Postgres refuses', () => {
  test('a type that is not known', async () => {
    const wrong = sql`insert into event_pending (type, data) values ('deposit.lost', '{}')`.execute(books.db)
    await expect(wrong).rejects.toThrow('event_pending_type_check')
  })

  test.each(eventTypes)('no event of the type %s', async (type) => {
    await sql`insert into event_pending (type, data) values (${type}, '{}')`.execute(books.db)
  })

  test('a gap, and a change', async () => {
    await insert(books.db, 1, 1)
    await numberEvents(books.db)
    const add = (sequence: number, previous: number | null) =>
      sql`insert into event (sequence, id, type, deposit_id, previous, data, at)
        values (${sequence}, uuidv7(), 'deposit.final', 7, ${previous}, '{}', now())`.execute(books.db)
    await expect(add(3, null)).rejects.toThrow('event 3 does not follow the events before it')
    await expect(add(2, 1)).rejects.toThrow('event 2 does not follow the events before it')
    await add(2, null)
    await add(3, 2)
    await expect(sql`update event set data = '{}'`.execute(books.owner)).rejects.toThrow('append-only')
    await expect(sql`delete from event`.execute(books.owner)).rejects.toThrow('append-only')
    await expect(sql`delete from event`.execute(books.db)).rejects.toThrow('permission denied')
  })
})
