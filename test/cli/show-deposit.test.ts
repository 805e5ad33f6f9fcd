import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Address } from '../../src/core/asset.ts'
import type { Amount } from '../../src/core/money.ts'
import { appendFailures } from '../../src/store/chain/named-transactions.ts'
import { inTransaction } from '../../src/store/database.ts'
import { saveOwner } from '../../src/store/owners.ts'
import { type Books, openBooks } from '../support/books.ts'
import { runCommand } from '../support/command.ts'
import {
  arbitrum,
  base,
  claim,
  delivery,
  failedDelivery,
  payment,
  recipient,
  webhook,
} from '../support/evidence.ts'
import { judgingEnvironment } from '../support/judging-environment.ts'
import { addPeople, runDecided } from '../support/people.ts'
import { until } from '../support/until.ts'

let books: Books

beforeEach(async () => {
  books = await openBooks()
})
afterEach(() => books[Symbol.asyncDispose]())

const depositd = (line: string) => runDecided(line, judgingEnvironment(books.url))

/** A time that everything stored so far is of, and nothing that is stored later. */
async function clock(): Promise<string> {
  const then = await databaseTime()
  await until('the next millisecond', async () => ((await databaseTime()) > then ? true : null))
  return new Date(then).toISOString()
}

/** In whole milliseconds, as times of JSON are. */
async function databaseTime(): Promise<number> {
  const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(books.db)
  return rows[0]?.now.getTime() ?? 0
}

type Reason = {
  what: string
  says: string
  evidence: string[]
  rule: string
  policy: string | null
  until: string | null
}

async function reasons(): Promise<Reason[]> {
  const { explanation } = JSON.parse((await depositd('deposits show 1 --json')).out) as {
    explanation: { state: string; reasons: Reason[] }
  }
  return explanation.reasons
}

test('a search for a delivery is shown as that, and a failed transaction as that', async () => {
  await books.receive(payment(), claim({ status: 'settling' }))
  await books.settle()
  await inTransaction(books.db, (tx) => appendFailures(tx, [failedDelivery()]))
  await books.settle()
  const { out } = await depositd('deposits show 1')
  expect(out).toMatch(/chain +recipient searched for on arbitrum +\d/)
  expect(out).toMatch(/chain +recipient failed on arbitrum at height \d+/)
})

test('a deposit states whether its owner may be credited, and what it waits for', async () => {
  await books.receive(payment())
  await books.settle()
  expect((await depositd('deposits show 1')).out).toMatch(
    /credit +not safe\n +sources that the policy requires do not agree yet\n +a severe mismatch\n +it is not booked for its owner\n/,
  )
  const never = { safe: false, amount: null, since: null, finality: null, proof: null }
  expect(JSON.parse((await depositd('deposits show 1 --json')).out)).toMatchObject({ credit: never })
  await books.receive(webhook({ status: 'observed' }))
  await books.settle()
  const { out } = await depositd('deposits show 1')
  expect(out).toMatch(
    /credit +safe: 100\.000000 USDC, journal \d, since .*Z\n +final on base at height 10; these agree: webhook, chain/,
  )
  expect(JSON.parse((await depositd('deposits show 1 --json')).out)).toMatchObject({
    credit: {
      safe: true,
      amount: '100.000000',
      amount_base: '100000000',
      finality: { height: '10', block_hash: '0xb10c', final_at: '2026-01-01T00:02:00.000Z' },
      proof: expect.stringMatching(/^\d$/),
    },
  })
  await books.receive(payment({ stage: 'orphaned', epoch: 1 }))
  await books.settle()
  expect((await depositd('deposits show 1')).out).toMatch(
    /credit +withdrawn: 100\.000000 USDC, since .*Z\n +the payment is no longer on its chain/,
  )
})

test('a verdict names the rows behind each cell, and how each transfer was found', async () => {
  await books.receive(payment(), delivery(), webhook(), claim())
  await books.settle()
  const reported = await reasons()
  expect(reported.map(({ what, evidence }) => [what, evidence.length])).toEqual([
    ['state', 4],
    ['deposit.webhook', 1],
    ['deposit.api', 1],
    ['deposit.chain', 1],
    ['settlement.webhook', 1],
    ['settlement.api', 1],
    ['settlement.chain', 1],
    ['payment', 1],
    ['delivery', 1],
  ])
  expect(reported[0]).toMatchObject({
    says: expect.stringContaining('reconciled'),
    policy: expect.stringContaining('policy.required'),
  })
  expect(reported[8]?.rule).toContain('the service names the transaction')
})

test('a mismatch names the line of the policy and the deadline that decided', async () => {
  await books.receive(payment(), claim({ status: 'confirmed' }))
  await books.settle()
  const missing = (await reasons()).find(({ what }) => what === 'mismatch settlement_missing')
  expect(missing).toMatchObject({
    policy: 'policy.settlementWithin: 1h',
    until: '2026-01-01T01:02:00.000Z',
  })
})

test('what is still in time is told with its deadline', async () => {
  const now = new Date()
  await books.receive(
    payment({ receivedAt: now, blockAt: now }),
    webhook({ status: 'confirmed', receivedAt: now, occurredAt: now }),
  )
  await books.settle()
  const awaited = (await reasons()).filter(({ what }) => what.startsWith('awaited'))
  expect(awaited.map(({ what, policy }) => [what, policy])).toEqual(
    expect.arrayContaining([
      ['awaited settlement_missing', 'policy.settlementWithin: 1h'],
      ['awaited api_missing', 'policy.apiWithin: 15m'],
    ]),
  )
  expect(awaited.every((one) => one.until !== null && new Date(one.until) > now)).toBe(true)
})

test('a cell that differs says in what', async () => {
  await books.receive(payment(), claim({ deposit: { amount: 5n as Amount } }))
  await books.settle()
  const cell = (await reasons()).find(({ what }) => what === 'deposit.api')
  expect(cell).toMatchObject({
    says: expect.stringContaining('differs: dep_1'),
    rule: 'amount differs from the other sources',
  })
})

test('what the service wrote does not steer the terminal', async () => {
  const owner = { kind: 'channel', id: '\u001b[2Jshop\nreconciled' } as const
  await books.receive(claim({ owner, status: 'confirmed', deposit: { address: '0xaa' as Address } }))
  await books.settle()
  const now = new Date().toISOString()
  for (const line of [
    'deposits list',
    'deposits show 1',
    `deposits show 1 --as-of ${now}`,
    'mismatches list',
  ])
    expect((await depositd(line)).out).not.toContain('\u001b')
  expect((await depositd('deposits list')).out.split('\n')).toHaveLength(3)
})

test('as of a time between two pieces of evidence, only the first is known', async () => {
  await books.receive(payment())
  await books.settle()
  const then = await clock()
  await books.receive(webhook(), claim(), delivery())
  await books.settle()
  const { out } = await depositd(`deposits show dep_1 --as-of ${then}`)
  expect(out).toContain(': confirmed')
  expect(out).toContain('unreported (severe)')
  expect(out).toContain('liabilities:suspense')
  expect(out).not.toContain('settlement/')
  const report = JSON.parse((await depositd(`deposits show dep_1 --as-of ${then} --json`)).out) as {
    deposits: { verdict: { state: string } }[]
    journals: unknown[]
    evidence: unknown[]
  }
  expect(report.deposits.map(({ verdict }) => verdict.state)).toEqual(['confirmed'])
  expect([report.journals.length, report.evidence.length]).toEqual([1, 1])
  expect((await depositd(`deposits show dep_1 --as-of ${await clock()}`)).out).toContain(': reconciled')
})

test('as of a time before its first evidence, a deposit is not known', async () => {
  await books.receive(payment())
  await books.settle()
  const { status, out } = await depositd('deposits show 1 --as-of 2020-01-01')
  expect(status).toBe(0)
  expect(out).toMatch(
    /^deposit 1 as of 2020-01-01T00:00:00\.000Z: not known yet; its first evidence was stored 20/,
  )
})

async function standing(time: string): Promise<string[]> {
  const report = JSON.parse((await depositd(`deposits show 1 --as-of ${time} --json`)).out) as {
    mismatches: { id: string; status: string }[]
  }
  return report.mismatches.map(({ id, status }) => `${id} ${status}`)
}

test('as of a time, a mismatch stands as people had decided by then', async () => {
  await addPeople(books.owner)
  await books.receive(payment())
  await books.settle()
  const steps = [
    'mismatches comment 1 asked',
    'mismatches snooze 1 --until 24h',
    'mismatches resolve 1 --reason ours',
    'mismatches reopen 1 --reason theirs',
  ]
  const times: string[] = []
  for (const step of steps) {
    expect((await depositd(step)).status).toBe(0)
    times.push(await clock())
  }
  await books.receive(webhook(), claim(), delivery())
  await books.settle()
  expect(await Promise.all([...times, await clock()].map(standing))).toEqual([
    ['1 open'],
    ['1 snoozed'],
    ['1 resolved'],
    ['1 open'],
    [],
  ])
  expect(await standing('2099-01-01')).toEqual([])
})

test('two deposits that became one are shown as the two they were', async () => {
  await books.receive(webhook({ deposit: { tx: null, index: null }, settlement: { tx: null } }))
  await books.settle()
  await books.receive(payment())
  await books.settle()
  const then = await clock()
  await books.receive(claim(), delivery())
  await books.settle()
  const { out } = await depositd(`deposits show 2 --as-of ${then}`)
  const titles = out.split('\n').filter((line) => line.startsWith('deposit'))
  expect(titles).toHaveLength(2)
  expect(out).toContain('(as deposit 2, merged since)')
  expect(out).toContain('chain_missing')
  expect(out).toContain('liabilities:suspense')
})

test('an address that was approved later was unknown then', async () => {
  const address = '0x00000000000000000000000000000000000000aa' as Address
  await books.receive(claim({ owner: null, status: 'confirmed', deposit: { address } }))
  await books.settle()
  const then = await clock()
  await saveOwner(books.db, {
    owner: { kind: 'channel', id: 'late' },
    deposits: [{ network: base, address }],
    forward: { network: arbitrum, asset: 'USDC', recipient },
  })
  const before = await depositd(`deposits show 1 --as-of ${then}`)
  const after = await depositd(`deposits show 1 --as-of ${await clock()}`)
  expect(before.out).toContain('mismatch unknown_address')
  expect(after.out).not.toContain('mismatch unknown_address')
})

test.each([
  ['yesterday', '--as-of is "yesterday"'],
  ['2026-02-30', '--as-of is "2026-02-30"'],
])('--as-of %s is wrong use', async (time, problem) => {
  const { status, err } = await depositd(`deposits show 1 --as-of ${time}`)
  expect(status).toBe(2)
  expect(err).toContain(problem)
})

test('a deposit as of a time is judged by the current settings, and needs all of them', async () => {
  const { status, err } = await runCommand('deposits show 1 --as-of 2026-01-01', { DATABASE_URL: books.url })
  expect(status).toBe(2)
  expect(err).toContain('SERVICE_API_KEY is missing')
})
