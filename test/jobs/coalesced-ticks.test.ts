import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { sharedTicks, startSchedule, type Tick, type TickClaims } from '../../src/jobs/schedule.ts'
import { claimTick, giveBackTick, ticksGivenBack } from '../../src/store/streams.ts'
import { type Books, openBooks } from '../support/books.ts'
import { until } from '../support/until.ts'

let books: Books

beforeEach(async () => {
  books = await openBooks()
})
afterEach(() => books[Symbol.asyncDispose]())

const claims: TickClaims = {
  claim: (tick, quietMs) => claimTick(books.db, { tick, quietMs }),
  giveBack: (tick, claim) => giveBackTick(books.db, { tick, claim }),
  givenBack: () => ticksGivenBack(books.db),
}
const reaching = () => Promise.resolve(true)
const cut = () => Promise.resolve(false)
const unasked = () => Promise.reject(new Error('no database'))

/** One of several schedulers on one database. */
class Scheduler {
  /** What it asked the queue for. */
  readonly asked: string[] = []
  readonly ticks: Tick[]
  /** Whether it gets through to the queue. */
  reach: () => Promise<boolean>

  constructor(reach = reaching, known = claims) {
    this.reach = reach
    // One comes so seldom that whoever misses it waits for long.
    this.ticks = sharedTicks(
      [this.#asking('audit', '0 0 0 1 1 *'), this.#asking('scan', '* * * * * *')],
      known,
    )
  }

  #asking(name: string, expression: string): Tick {
    const ask = async () => {
      const isDone = await this.reach()
      if (isDone) this.asked.push(name)
      return isDone
    }
    return { name, expression, run: ask }
  }

  tick(name: string): Promise<boolean> {
    return this.ticks.find((one) => one.name === name)?.run() ?? Promise.reject(new Error(name))
  }

  /** Looks for what others could not do. */
  takeUp(): Promise<boolean> {
    return this.tick('given back')
  }
}

const twenty = () => Array.from({ length: 20 }, () => new Scheduler())
const askedBy = (schedulers: readonly Scheduler[]) => schedulers.flatMap(({ asked }) => asked)

test('of twenty schedulers one does a tick, and what was done nobody takes up', async () => {
  const schedulers = twenty()
  await Promise.all(schedulers.map((one) => one.tick('audit')))
  await Promise.all(schedulers.map((one) => one.takeUp()))
  expect(askedBy(schedulers)).toEqual(['audit'])
})

test('each does a tick where nobody can be asked whose it is', async () => {
  const schedulers = twenty().map(
    () => new Scheduler(reaching, { claim: unasked, giveBack: unasked, givenBack: unasked }),
  )
  for (const one of schedulers) expect([await one.tick('audit'), await one.takeUp()]).toEqual([true, true])
  expect(askedBy(schedulers)).toHaveLength(20)
})

test('what one claimed that has lost the queue is done by one of those that have not', async () => {
  const [claimed, failed] = [Promise.withResolvers<void>(), Promise.withResolvers<boolean>()]
  const first = new Scheduler(() => (claimed.resolve(), failed.promise))
  const others = twenty()
  const tried = first.tick('audit')
  await claimed.promise
  for (const one of others) await one.tick('audit')
  expect(askedBy(others)).toEqual([])
  failed.resolve(false)
  expect(await tried).toBe(false)
  await Promise.all([first, ...others].map((one) => one.takeUp()))
  expect(askedBy([first, ...others])).toEqual(['audit'])
})

test('whoever has lost the queue claims nothing, of any name, and does once what was missed when it is back', async () => {
  const alone = new Scheduler(cut)
  expect(await alone.tick('scan')).toBe(false)
  expect(await alone.tick('audit')).toBe(false)
  await alone.takeUp()
  const { rows } = await sql`select from stream where fence > 1 or expires_at > now()`.execute(books.db)
  expect(rows).toEqual([])
  alone.reach = reaching
  expect(await alone.tick('scan')).toBe(true)
  await alone.takeUp()
  await alone.takeUp()
  expect(alone.asked.filter((name) => name === 'audit')).toHaveLength(1)
})

test('who fails late leaves the tick to whom has claimed it since', async () => {
  const failed = Promise.withResolvers<boolean>()
  const slow = new Scheduler(() => failed.promise)
  const tried = slow.tick('scan')
  await until('it has the tick, and its time is over', isOver, 10_000)
  const other = new Scheduler()
  await other.tick('scan')
  failed.resolve(false)
  await tried
  expect(await claims.givenBack()).toEqual([])
  expect(other.asked).toEqual(['scan'])
})

async function isOver(): Promise<true | null> {
  const { rows } = await sql`select from stream where name = 'tick/scan' and expires_at < now()`.execute(
    books.db,
  )
  return rows.length > 0 || null
}

test('a schedule takes up what others gave back, by itself', async () => {
  await new Scheduler(cut).tick('audit')
  const other = new Scheduler()
  const end = startSchedule(other.ticks, (error) => expect.fail(String(error)))
  await until('the audit is taken up', () => other.asked.includes('audit') || null, 15_000)
  end()
}, 30_000)
