import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { toAmount } from '../../src/core/money.ts'
import type { RequestKnob } from '../../src/service/faults/fault-table.ts'
import type { ServiceTables } from '../../src/service/tables.ts'
import { type Database, openDatabase } from '../../src/store/database.ts'
import { contradictions } from '../oracle/books-of-faults.ts'
import { storeFacts } from '../oracle/facts.ts'
import { countStruck, isAtRest, type Paid, readFacts } from '../support/facts-of-world.ts'
import { ratesAtRest } from '../support/struck-payments.ts'
import { until } from '../support/until.ts'
import { startWorld, type World } from '../support/world.ts'
import { eachAtOnce } from './holdings.ts'

/** The whole measure is `DEPOSITS=10000 npm test -- test/scenario/many-faults`. */
const depositCount = Number(process.env.DEPOSITS ?? 60)

const withinMs = 120_000 + depositCount * 500
/** Looking costs those who are looked at, too. */
const lookEveryMs = 500

/** What is late by a fault is later than every deadline; what is late by itself is told and clears. */
const deadlineSeconds = depositCount > 1000 ? 60 : 8
const deadline = `${deadlineSeconds}s`
const policy = {
  webhookWithin: deadline,
  apiWithin: deadline,
  reportWithin: deadline,
  settlementWithin: deadline,
}
const delayMs = deadlineSeconds * 1500

const depositRate = 0.03
const requestRates: Record<RequestKnob, number> = {
  refuseCallRate: 0.05,
  failCallRate: 0.05,
  stallCallRate: 0.01,
  reorderRecordsRate: 0.2,
  driftPageRate: 0.1,
}

const stack = new AsyncDisposableStack()
let world: World
let service: Database<ServiceTables>
let oracle: Client
let paid: Paid[]

beforeAll(
  async () => {
    const moreChannels = Math.ceil(depositCount / 100)
    world = await startWorld({ networks: ['base', 'solana'], policy, moreChannels }, stack)
    service = openDatabase({ url: world.serviceDatabaseUrl, poolMax: 2, applicationName: 'test' })
    stack.defer(() => service.destroy())
    oracle = new Client({ connectionString: world.settings.databaseUrl })
    await oracle.connect()
    stack.defer(() => oracle.end())
    const rates = ratesAtRest(depositRate)
    world.service.faults.set({ seed: 'many deposits', delayMs, ...rates, ...requestRates })

    const startedAt = performance.now()
    const report = (what: string) =>
      process.stdout.write(`${what}: ${((performance.now() - startedAt) / 1000).toFixed(1)} s\n`)
    paid = await eachAtOnce(depositCount, payOne)
    report(`${depositCount} deposits paid`)
    await until(
      'the service is at rest',
      () => pausing(() => isAtRest(service, world.service.faults, depositCount)),
      withinMs,
    )
    report('forwarded, and every webhook sent')
    const facts = await readFacts(service, world.service.faults, paid)
    await storeFacts(world.settings.databaseUrl, facts)
    // What is not reached is told by the tests.
    await until('every fault is told', () => pausing(isReported), withinMs).catch(() => null)
    report('every fault told')
    process.stdout.write(countStruck(facts))
  },
  2 * withinMs + 60_000,
)
afterAll(() => stack.disposeAsync())

async function pausing(ask: () => Promise<boolean>): Promise<true | null> {
  await sleep(lookEveryMs)
  return (await ask()) || null
}

/** Owners, networks and assets in turn; many amounts are alike, as those of customers are. */
async function payOne(place: number): Promise<Paid> {
  const network = world.networks[place % world.networks.length]
  const round = Math.floor(place / world.networks.length)
  const asset = network?.assets[round % network.assets.length]
  const owner = world.owners[Math.floor(round / 3) % world.owners.length]
  const to = owner?.deposits.find((one) => one.network === network?.name)?.address
  if (network === undefined || asset === undefined || to === undefined) throw new Error('nothing to pay')
  const amount = toAmount(10n ** BigInt(asset.decimals) / 50n + BigInt(place % 50))
  const tx = await network.pay({ asset: asset.key, to, amount })
  return { network: network.name, tx, address: to, asset: asset.key, amount }
}

/** Nothing waits to be applied or for a deadline, and nothing contradicts the facts: nothing can change any more. */
async function isReported(): Promise<boolean> {
  const { rows } = await sql<{ waiting: boolean }>`
    select exists (select from inbox_pending)
      or exists (select from evidence_group where recheck_at is not null) as waiting`.execute(world.db)
  if (rows[0]?.waiting !== false) return false
  for (const question of Object.values(contradictions)) {
    if ((await oracle.query(question)).rowCount !== 0) return false
  }
  return true
}

describe(`${depositCount} deposits, with every error that the service can make`, () => {
  test.each(Object.entries(contradictions))('%s', async (_name, question) => {
    const { rows } = await oracle.query(question)
    expect(rows.slice(0, 20), `${rows.length} contradictions`).toEqual([])
  })
})
