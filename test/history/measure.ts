import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { openEvmClient } from '../../src/sandbox/evm-faucet.ts'
import { freePort } from '../../src/sandbox/free-port.ts'
import { readHistory } from '../../src/store/chain/history.ts'
import type { Database } from '../../src/store/database.ts'
import type { Tables } from '../../src/store/tables.ts'
import { spawnProgram } from '../support/embedded-program.ts'
import { until } from '../support/until.ts'
import { total } from './count-calls.ts'
import { type HistoryGround, startHistoryGround } from './ground.ts'
import { judge, networkFigures, shareBefore } from './judge.ts'
import { onboardYear, webhookUrlAt } from './onboard-year.ts'
import {
  connect,
  importBook,
  type MeasureChoices,
  type MeasuredWorld,
  startMeasured,
  switchService,
} from './world.ts'

const withinMs = 3 * 3_600_000

/** A year of history, then a daemon that reads it and is killed in the middle, and payments that go on. */
export async function measureHistory(choices: MeasureChoices, say: MeasuredWorld['say']) {
  await using stack = new AsyncDisposableStack()
  const httpPort = await freePort()
  const webhookUrl = choices.isOnboarded ? webhookUrlAt(httpPort) : null
  const ground = await startHistoryGround({ ...choices, webhookUrl }, stack, say)
  const world = await connect({ choices, ground, say, httpPort }, stack)
  let daemon = await startMeasured(world, stack)
  await until('the networks are read', () => isScanned(world), withinMs)
  const before = new Map([...world.counters].map(([name, counter]) => [name, total(counter)]))
  const finalBefore = await finalHeights(world)
  for (const { seen } of world.counters.values()) seen.clear()
  const since = await timeOfPayment(ground, Math.floor(choices.deposits * shareBefore))
  const startedAt = performance.now()
  const onboarded = choices.isOnboarded ? await onboardYear(world, since) : await importYear(world, since)
  const fresh = payOn(world)
  const shown: string[] = []
  for (let kill = 1; kill <= choices.kills; kill++) {
    await until('a part is read', () => isReadTo(world, kill / (choices.kills + 1)), withinMs)
    shown.push(await doctorSays(world))
    await daemon.end('SIGKILL')
    fresh.interrupt()
    say(`killed after ${seconds(startedAt)} s; ${shown.at(-1) ?? ''}`)
    daemon = await startMeasured(world, stack)
  }
  await until('the history is read', () => isReadTo(world, 1), withinMs)
  const readSeconds = seconds(startedAt)
  say(`history read after ${readSeconds} s`)
  const delays = await fresh.stop()
  const reporting = setInterval(() => {
    void countStates(world).then((states) => say(`${seconds(startedAt)} s: ${JSON.stringify(states)}`))
  }, 30_000)
  await until('every deposit is decided', () => isDecided(world), withinMs).finally(() =>
    clearInterval(reporting),
  )
  const decidedSeconds = seconds(startedAt)
  const progress = await readHistory(world.db)
  await daemon.end('SIGTERM')
  const networks = ground.networks.map(({ name }) =>
    networkFigures(world, { name, progress, before, finalBefore }),
  )
  const listCalls = world.counters.get('service')?.calls.get('/v1/proxies/deposits') ?? 0
  const states = await countStates(world)
  const figures = {
    onboarded,
    deposits: choices.deposits,
    rate: choices.rate,
    kills: choices.kills,
    readSeconds,
    decidedSeconds,
  }
  return {
    ...figures,
    networks,
    listCalls,
    states,
    delays,
    shown,
    lines: judge({ ...figures, networks, listCalls, states, delays }),
  }
}

async function importYear(world: MeasuredWorld, since: Date): Promise<null> {
  await importBook(world, since)
  switchService(world, false)
  return null
}

async function isScanned({ db, ground }: MeasuredWorld): Promise<true | null> {
  const { rows: tables } = await sql<{
    name: string | null
  }>`select to_regclass('stream')::text as name`.execute(db)
  if (tables[0]?.name === null) return null
  const { rows } = await sql`select from stream where name like 'scan/%' and cursor is not null`.execute(db)
  return rows.length === ground.networks.length || null
}

async function finalHeights({ db }: MeasuredWorld): Promise<Map<string, number>> {
  const { rows } = await sql<{
    network: string
    height: bigint
  }>`select network, height from chain_network`.execute(db)
  return new Map(rows.map(({ network, height }) => [network, Number(height)]))
}

/** Of the first one from that place on that is on an EVM network: only those have a year. */
async function timeOfPayment({ networks, paid }: HistoryGround, place: number): Promise<Date> {
  const evm = networks.find(({ family }) => family === 'evm')
  const payment = paid.slice(place).find(({ network }) => network === evm?.name)
  if (evm === undefined || payment === undefined) throw new Error('no EVM network was paid on')
  const client = openEvmClient(evm.rpcUrls[0] ?? '', evm.chainId ?? 0)
  const { blockNumber } = await client.getTransactionReceipt({ hash: payment.tx as `0x${string}` })
  const { timestamp } = await client.getBlock({ blockNumber })
  return new Date(Number(timestamp) * 1000)
}

async function isReadTo({ db, ground }: MeasuredWorld, share: number): Promise<true | null> {
  const all = await readHistory(db)
  if (all.length < ground.networks.length) return null
  const [missing, whole] = all.reduce(
    ([left, sum], one) => [left + Number(one.missing), sum + Number(one.to - one.from) + 1],
    [0, 0],
  )
  return missing <= whole * (1 - share) || null
}

async function doctorSays({ choices, environment }: MeasuredWorld): Promise<string> {
  const program = spawnProgram(choices.folder, ['doctor', '--json'], environment)
  await program.ended
  const checks = /\{[^]*\}/.exec(program.output())?.[0] ?? '{}'
  const { checks: found = [] } = JSON.parse(checks) as { checks?: { check: string; says: string }[] }
  return found
    .filter(({ check }) => check.startsWith('history'))
    .map(({ check, says }) => `${check}: ${says}`)
    .join('; ')
}

const payEveryMs = 3000

/** A payment now and then, each awaited until it is booked. Those that a restart delays do not count. */
function payOn({ ground, db, choices }: MeasuredWorld) {
  const over = new AbortController()
  const delays: number[] = []
  let interruptions = 0
  const payAll = async () => {
    for (let place = choices.deposits; !over.signal.aborted; place++) {
      const { tx } = await ground.pay(place)
      const [paidAt, before] = [performance.now(), interruptions]
      await until('a new payment is booked', () => isBooked(db, tx), 600_000)
      if (before === interruptions) delays.push((performance.now() - paidAt) / 1000)
      await sleep(payEveryMs, undefined, { signal: over.signal }).catch(() => undefined)
    }
  }
  const paying = payAll()
  return {
    interrupt: () => void interruptions++,
    async stop() {
      over.abort()
      await paying
      return delays
    },
  }
}

async function isBooked(db: Database<Tables>, tx: string): Promise<true | null> {
  const { rows } = await sql`
    select from deposit join ledger_journal using (transfer) where tx = ${tx} limit 1`.execute(db)
  return rows.length > 0 || null
}

/** Reconciled, or with the mismatch that says that its time was not read. */
const isAtEnd = sql`(state = 'reconciled' or exists (
  select from mismatch where deposit_id = deposit.id and kind = 'not_covered' and cleared_at is null))`

async function isDecided({ db, ground }: MeasuredWorld): Promise<true | null> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from deposit
    where merged_into is null and tx = any(${ground.paid.map(({ tx }) => tx)}) and ${isAtEnd}`.execute(db)
  return rows[0]?.count === ground.paid.length || null
}

async function countStates({ db }: MeasuredWorld): Promise<Record<string, number>> {
  const { rows } = await sql<{ what: string; count: number }>`
    select state as what, count(*)::int as count from deposit where merged_into is null group by state
    union all select 'mismatch ' || kind, count(*)::int from mismatch
    where cleared_at is null and resolved_at is null group by kind order by 1`.execute(db)
  return Object.fromEntries(rows.map(({ what, count }) => [what, count]))
}

function seconds(sinceMs: number): number {
  return Math.round((performance.now() - sinceMs) / 1000)
}
