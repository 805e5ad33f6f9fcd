import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { Client } from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startDaemon } from '../../src/app/daemon.ts'
import { createSettingsReader } from '../../src/config/settings.ts'
import { roles } from '../../src/health.ts'
import { contradictions } from '../oracle/books-of-faults.ts'
import { storeFacts } from '../oracle/facts.ts'
import { shapes } from '../shapes/front.ts'
import { allReconciled } from '../support/all-reconciled.ts'
import { runCommand } from '../support/command.ts'
import { type Connectable, onboard, payOn, startConnectable } from '../support/connectable.ts'
import { countStruck, isAtRest, type Paid, readFacts } from '../support/facts-of-world.ts'
import { temporaryFolderOfFile } from '../support/folder.ts'
import { ratesAtRest } from '../support/struck-payments.ts'
import { until } from '../support/until.ts'
import { startWorld, type World } from '../support/world.ts'
import { eachAtOnce } from './holdings.ts'

/**
 * Services of shapes that the daemon has never seen, each with deposits, chains and webhooks of its own, are connected to
 * one installation by one command. No profile of theirs is in the repository. The whole measure is
 * `ALL=1 FAULTY=200 READS=10000 npx vitest run test/scenario/onboard.test.ts`.
 */

/** `ALL=1` connects all of them, `SHAPE=quay` one. */
const wanted = process.env.SHAPE?.split(',') ?? (process.env.ALL === '1' ? null : ['tern', 'dunlin'])
const names = shapes.map(({ name }) => name).filter((name) => wanted?.includes(name) !== false)
const depositsEach = Number(process.env.DEPOSITS ?? 12)
const faultyEach = Number(process.env.FAULTY ?? 8)
const reads = Number(process.env.READS ?? 30)
const withinMs = 120_000 + names.length * faultyEach * 500

/** Of a deposit that is delivered in several transactions, its record lists them. */
const listsPayouts = 'dunlin'

const folder = temporaryFolderOfFile()
const stack = new AsyncDisposableStack()

const deadlineSeconds = faultyEach > 100 ? 60 : 8
const deadline = `${deadlineSeconds}s`
const policy = {
  webhookWithin: deadline,
  apiWithin: deadline,
  reportWithin: deadline,
  settlementWithin: deadline,
}
/**
 * A list without a filter shows changes of older records only when it is read as a whole. Balances are proved before the
 * senders of a service are known, and after.
 */
const often = { schedule: { pollAll: '5s', balances: '*/15 * * * * *' } as object }

let world: World
let environment: Record<string, string>
const connected: Connectable[] = []
/** Before the service made errors. */
const earlier: (Paid & { service: string })[] = []

beforeAll(async () => {
  world = await startWorld({ networks: ['base', 'solana'], policy, sections: () => often }, stack)
  await world.daemon.stop()
  const publicUrl = `http://127.0.0.1:${world.settings.http.port}`
  environment = { ...world.environment, SECRETS_DIR: folder, PUBLIC_URL: publicUrl }
  const readSettings = createSettingsReader(environment, (file) => readFileSync(file, 'utf8'))
  const log = pino({ level: 'silent' })
  const daemon = await startDaemon(readSettings(), { roles, version: 'test', log, readSettings })
  stack.defer(() => daemon.stop())
  for (const shape of shapes)
    if (names.includes(shape.name)) connected.push(await startConnectable({ ...world, folder, stack }, shape))
}, withinMs + 60_000)
afterAll(() => stack.disposeAsync())

test.each(names)(
  '%s is connected by onboard --yes alone, and every deposit is reconciled',
  async (name) => {
    const one = connected.find((service) => service.name === name)
    if (one === undefined) throw new Error(`${name} is not there`)
    if (name === listsPayouts) one.faults.set({ splitForwardRate: 0.5 })
    const pay = () => Promise.all(Array.from({ length: depositsEach }, (_, place) => one.pay(place)))
    const before = await pay()
    const hasHistory = async () => (await one.countEnded()) === depositsEach || null
    await until('the service has history', hasHistory, withinMs)
    const at = { environment, folder }
    await expect(onboard(one, { ...at, wait: 0 })).rejects.toThrow('only 0 webhooks arrived within 0 s')
    one.sendWebhooks()
    const traffic = payOn(one, depositsEach)
    expect(await onboard(one, at).finally(traffic.stop)).toContain('Found before')
    const all = [...before, ...(await traffic.paid), ...(await pay())]
    earlier.push(...all.map((paid) => ({ ...paid, service: name })))
    const txs = all.map(({ tx }) => tx)
    await until('every deposit is reconciled', () => allReconciled(world, txs), withinMs)
    // On a busy machine, a deadline of eight seconds passes before the evidence is applied.
    await until('no mismatch is open', async () => (await countOpen(name)) === 0 || null, withinMs)
    expect(await onboard(one, at)).toContain(`${name} is active already`)
    if (name === listsPayouts) await expectPayouts()
  },
  3 * withinMs,
)

async function countOpen(service: string): Promise<number> {
  const { rows } = await sql`
    select kind from mismatch where service = ${service} and cleared_at is null`.execute(world.db)
  return rows.length
}

/** Each payout of a list is a delivery of its deposit, in the profile, the books, bundles and after a rebuild. */
async function expectPayouts(): Promise<void> {
  const profile = readFileSync(join(environment.DEPOSITD_CONFIG ?? '', `../${listsPayouts}.yaml`), 'utf8')
  expect(profile).toContain('transaction: flow.outbound.payouts.*.proof.transaction.hash # proved')
  const { rows } = await sql<{ id: string; parts: number }>`
    select deposit.service_id as id, count(*)::int as parts from deposit
    join ledger_journal as journal on deposit_id = deposit.id and journal.kind = 'settlement'
    join ledger_transfer as booked on journal_id = journal.id and debit like 'assets:forwarded:%'
    where service = ${listsPayouts} and state = 'reconciled' and merged_into is null
      and not exists (select from ledger_journal reversal where reversal.reverses = journal.id)
    group by deposit.service_id having count(*) > 1`.execute(world.db)
  expect(rows).toEqual(rows.map(({ id }) => ({ id, parts: 2 })))
  const [split] = rows
  if (split === undefined) throw new Error('no deposit was delivered in two parts')
  const bundle = join(folder, 'bundle.json')
  for (const line of [
    `deposits evidence ${split.id} --out ${bundle}`,
    `evidence verify ${bundle}`,
    'rebuild --verify',
  ])
    expect(await runCommand(line, environment)).toMatchObject({ status: 0 })
}

const faultRate = 0.03

describe(`${faultyEach} deposits of each, with every error that the service can make`, () => {
  let oracle: Client

  beforeAll(async () => {
    const rates = ratesAtRest(faultRate)
    const payments = await Promise.all(
      connected.map(async (one) => {
        const ended = earlier.filter(({ service }) => service === one.name).length
        const isAt = (count: number) => async () => (await isAtRest(one.db, one.faults, count)) || null
        await until(`${one.name} has sent every webhook`, isAt(ended), withinMs)
        one.faults.set({ seed: one.name, delayMs: deadlineSeconds * 1500, ...rates })
        const paid = await eachAtOnce(faultyEach, one.pay)
        await until(`${one.name} is at rest`, isAt(ended + faultyEach), withinMs)
        return readFacts(one.db, one.faults, paid)
      }),
    )
    const { networks } = world
    const facts = {
      payments: [...payments.flatMap((one) => one.payments), ...earlier.map(earlierFact)],
      forwards: payments.flatMap(({ forwards }) => forwards),
      // The events of a shape have other ids.
      events: [],
    }
    await storeFacts(world.settings.databaseUrl, facts)
    oracle = new Client({ connectionString: world.settings.databaseUrl })
    await oracle.connect()
    stack.defer(() => oracle.end())
    await until('every fault is reported', isReported, withinMs).catch(() => null)
    process.stdout.write(`${networks.length} networks, ${names.length} services\n${countStruck(facts)}`)
  }, 3 * withinMs)

  async function isReported(): Promise<true | null> {
    for (const question of Object.values(contradictions))
      if ((await oracle.query(question)).rowCount !== 0) return null
    return true
  }

  test.each(Object.entries(contradictions))('%s', async (_name, question) => {
    const { rows } = await oracle.query(question)
    expect(rows.slice(0, 20), `${rows.length} contradictions`).toEqual([])
  })
})

/** A record is struck whenever it is read, so that of an earlier deposit may have changed. */
function earlierFact({ service: _service, amount, ...paid }: (typeof earlier)[number]) {
  return {
    ...paid,
    amount: amount.toString(),
    owner_kind: '',
    struck: ['earlier'],
    must: [],
    any_of: false,
    may: [
      'amount_mismatch',
      'record_disappeared',
      'unknown_owner',
      'api_missing',
      'conversion_open',
      'status_regressed',
    ],
    is_reconciled: null,
  }
}

test('no deposit, owner or payload of one service is that of another', async () => {
  const { rows } = await sql`
    select service, bool_and(service_id like service || '/%') as own_id, bool_and(owner_id like service || '/%-' || service) as own_owner,
      bool_and(address in (select address from address_book where owner_id like service || '/%')) as own_address
    from deposit where service <> 'default' and service_id is not null and merged_into is null
    group by service order by service`.execute(world.db)
  const own = { own_id: true, own_owner: true, own_address: true }
  expect(rows).toEqual(names.toSorted().map((service) => ({ service, ...own })))
})

/** Commands that read what belongs to one service, each with a random one of its filters or of its ids. */
async function readOf(service: string, { owners, ids, txs }: Belongings): Promise<string> {
  const lines = [
    `deposits list --service ${service} --limit ${1 + Math.floor(Math.random() * 400)}`,
    `deposits list --service ${service} --state ${anyOf(['reconciled', 'settled', 'observed'])}`,
    `deposits list --owner ${anyOf(owners)}`,
    `mismatches list --service ${service} --all`,
    `channels list --service ${service}`,
    `wallets list --service ${service}`,
    `deposits show ${anyOf(ids)}`,
    `deposits show ${anyOf(txs)}`,
    `ledger statement ${anyOf(owners)}`,
    `scorecard --service ${service}`,
  ]
  const line = `${anyOf(lines)} --json`
  const { status, out, err } = await runCommand(line, environment)
  if (status > 1) throw new Error(`${line} ended with ${status}: ${err}\n${out}`)
  return out
}

type Belongings = { owners: string[]; ids: string[]; txs: string[]; addresses: string[] }

function anyOf(choices: readonly string[]): string {
  return choices[Math.floor(Math.random() * choices.length)] ?? ''
}

async function belongingsOf(service: string): Promise<Belongings> {
  const { rows } = await sql<Belongings>`
    select array_agg(distinct owner_id) as owners, array_agg(distinct address) as addresses,
      array_agg(distinct service_id) filter (where service_id is not null) as ids, array_agg(distinct tx) as txs
    from deposit where service = ${service} and merged_into is null`.execute(world.db)
  if (rows[0] === undefined) throw new Error(`${service} has no deposits`)
  return rows[0]
}

test(
  `${reads} random reads of one service name nothing of another`,
  async () => {
    const all = await Promise.all(names.map(async (name) => ({ name, ...(await belongingsOf(name)) })))
    const belongsTo = new Map(
      all.flatMap(({ name, owners, ids, txs, addresses }) =>
        [...owners, ...ids, ...txs, ...addresses].map((text) => [text, name] as const),
      ),
    )
    for (let place = 0; place < reads; place++) {
      const one = all[place % all.length]
      if (one === undefined) throw new Error('no service')
      const read = await readOf(one.name, one)
      const others = new Set(read.split(/[^\w/:-]+/).map((text) => belongsTo.get(text)))
      expect([...others].filter((name) => name !== undefined && name !== one.name)).toEqual([])
    }
  },
  withinMs + reads * 1000,
)
