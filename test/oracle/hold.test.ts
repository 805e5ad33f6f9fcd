import { sql } from 'kysely'
import { Client } from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startDaemon } from '../../src/app/daemon.ts'
import { sealBooks } from '../../src/jobs/books/seal-books.ts'
import { until } from '../support/until.ts'
import { startWorld, type World } from '../support/world.ts'
import { askEach, contradictionsIn, type Invariant, ofSeals, questions } from './hold.ts'
import { type Plant, plants } from './plants.ts'

const stack = new AsyncDisposableStack()
let world: World
let owner: Client

beforeAll(async () => {
  world = await startWorld({ networks: ['base', 'solana'] }, stack)
  for (const network of ['base', 'solana']) {
    await world.pay({ network, symbol: 'USDC', owner: 'shop', amount: '5' })
    await world.pay({ network, symbol: 'USDT', owner: 'savings', amount: '7' })
  }
  owner = new Client({ connectionString: world.settings.databaseUrl })
  await owner.connect()
  stack.defer(() => owner.end())
  await until('all is reconciled', () => areReconciled(4), 200_000)
  await sealBooks(world.db, null)
}, 300_000)
afterAll(() => stack.disposeAsync())

async function areReconciled(count: number): Promise<true | null> {
  const { rows } = await sql`select from deposit where state = 'reconciled'`.execute(world.db)
  return rows.length >= count || null
}

test('of books that nobody touched nothing is told, also while more comes in', async () => {
  const { networks, settings, serviceDatabaseUrl } = world
  const facts = {
    databaseUrl: settings.databaseUrl,
    serviceDatabaseUrl,
    networks: networks.map(({ name, rpcUrls }) => ({ name, url: rpcUrls[0] ?? '' })),
  }
  expect(await contradictionsIn(facts, 60_000)).toEqual([])
  await world.pay({ network: 'base', symbol: 'USDC', owner: 'shop', amount: '1' })
  expect(await contradictionsIn(facts, 60_000)).toEqual([])
  const { rows } = await owner.query('select count(*)::int as paid from hold.paid')
  expect(rows).toEqual([{ paid: expect.toSatisfy((paid: number) => paid >= 4) }])
  await until('that is reconciled, too', () => areReconciled(5), 100_000)
  // Its last webhook is applied before the daemon stops.
  await world.service.stop()
  expect(await contradictionsIn(facts, 60_000)).toEqual([])
  await world.daemon.stop()
  const atRest = await contradictionsIn(facts, 0)
  expect(atRest.filter(({ invariant }) => invariant !== 'I1')).toEqual([])
  // A start numbers and applies what its last jobs stored.
  const worker = await startDaemon(settings, {
    roles: ['worker'],
    version: 'test',
    log: pino({ level: 'warn' }),
  })
  stack.defer(() => worker.stop())
  expect(await contradictionsIn(facts, 60_000)).toEqual([])
  await worker.stop()
})

test.each(plants.map((plant) => [plant.invariant, plant.question, plant] as const))(
  '%s is told of, %s',
  async (invariant, question, plant) => {
    expect(await foundOf(plant)).toContainEqual(expect.objectContaining({ invariant, question }))
  },
)

test('every question has a contradiction that it finds', () => {
  const asked = Object.entries(questions).flatMap(([invariant, own]) =>
    Object.keys(own).map((question) => ({ invariant: invariant as Invariant, question })),
  )
  const planted = plants.map(({ invariant, question }) => ({ invariant, question }))
  expect(planted).toEqual(expect.arrayContaining([...asked, { invariant: 'I4', question: ofSeals }]))
})

/** Past every guard, as only the owner of the server can, and taken back again. */
async function foundOf({ statements }: Plant) {
  await owner.query('begin')
  await owner.query('set local session_replication_role = replica')
  try {
    for (const statement of statements) await owner.query(statement)
    return await askEach(owner)
  } finally {
    await owner.query('rollback')
  }
}
