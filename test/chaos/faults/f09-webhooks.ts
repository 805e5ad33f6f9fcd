import { withRole } from '../daemons.ts'
import type { Fault } from '../fault.ts'
import { ask, txsOf } from '../looks.ts'
import type { Random } from '../random.ts'
import { eventsOf, type RealEvent, sendReal } from '../real-webhooks.ts'
import { mustBeSame, untilSame } from '../until-same.ts'
import type { ChaosWorld, PaidDeposit } from '../world.ts'

const timesAtOnce = 1000
const threeDaysMs = 3 * 24 * 60 * 60 * 1000

/** Webhooks come as nobody would send them: what they tell is told once. */
export const webhooks: Fault[] = [
  {
    name: 'F9',
    title: 'webhooks a thousand times at once, reversed, three days late, and one id with two bodies',
    ground: 'shared',
    strike: strikeAgain,
  },
  {
    name: 'F9',
    title: 'webhooks before the deposit is on the chain, and long after',
    ground: 'shared',
    strike: strikeEarlyAndLate,
  },
]

async function strikeAgain(world: ChaosWorld, random: Random): Promise<void> {
  const paid = await world.pay(3)
  await world.untilAtRest()
  const before = await reportedOf(world, paid)
  const events = await eventsOf(world, paid)
  if (events.length < paid.length) throw new Error('the service has told of nothing')
  await sendManyTimes(world, random.pick(events))
  for (const event of events.toReversed())
    mustBeSame('the answer to an old webhook', await sendReal(world, event), 202)
  await sendLate(world, random.pick(events))
  mustBeSame(
    'rows of each event',
    await timesStored(world, events),
    events.map(() => 1),
  )
  await world.untilAtRest()
  mustBeSame('what is told of the deposits', await reportedOf(world, paid), before)
  await sendOther(world, random.pick(events))
}

/** Bounded as the intake is: who is told to come again comes again. */
async function sendManyTimes(world: ChaosWorld, event: RealEvent): Promise<void> {
  const before = await repeatsOf(world, event)
  let left = timesAtOnce
  const sender = async () => {
    while (left-- > 0) {
      const status = await sendReal(world, event)
      if (status === 503 || status === 429) left++
      else mustBeSame('the answer to a webhook that came before', status, 202)
    }
  }
  await Promise.all(Array.from({ length: 100 }, sender))
  await untilSame('how often it came', () => repeatsOf(world, event), before + timesAtOnce)
}

async function repeatsOf(world: ChaosWorld, { id }: RealEvent): Promise<number> {
  const [row] = await ask<{ count: number }>(
    world,
    `select count::integer from webhook_repeat where inbox_id = (
       select id from inbox where source = 'webhook' and source_key = $1)`,
    [id],
  )
  return row?.count ?? 0
}

/** Its signature of then is refused; signed anew it is what was told before, whatever time it names. */
async function sendLate(world: ChaosWorld, event: RealEvent): Promise<void> {
  const at = new Date(Date.now() - threeDaysMs)
  mustBeSame('the answer to an old signature', await sendReal(world, { ...event, at }), 401)
  const id = `${event.id}_late`
  const reported = JSON.parse(event.body) as Record<string, unknown>
  const body = JSON.stringify({ ...reported, id, created_at: at.toISOString() })
  mustBeSame('the answer to an event of three days ago', await sendReal(world, { id, body }), 202)
}

/** Of two bodies under one id, both are kept, and a person is told. */
async function sendOther(world: ChaosWorld, event: RealEvent): Promise<void> {
  const reported = JSON.parse(event.body) as Record<string, unknown>
  const body = JSON.stringify({ ...reported, created_at: new Date().toISOString() })
  mustBeSame('the answer to another body', await sendReal(world, { id: event.id, body }), 202)
  const conflict = `select kind from mismatch where subject = $1 and cleared_at is null`
  const asked = () => ask<{ kind: string }>(world, conflict, [`webhook/${event.id}`])
  await untilSame('the conflict is told', asked, [{ kind: 'conflicting_duplicate' }])
}

async function strikeEarlyAndLate(world: ChaosWorld): Promise<void> {
  for (const { proxy } of world.networks) proxy.stall()
  const early = await world.pay(3)
  const bySaying = 'webhook_at is not null and chain_at is null'
  await untilSame(
    'deposits known by webhooks alone',
    () => countDeposits(world, early, bySaying),
    early.length,
  )
  mustBeSame('what is booked of them', await countJournals(world, early), 0)
  for (const { proxy } of world.networks) proxy.heal()
  await world.untilAtRest()

  world.intake.proxy.cut()
  const late = await world.pay(3)
  const byChain = 'webhook_at is null and chain_at is not null and api_at is not null'
  await untilSame('deposits known without webhooks', () => countDeposits(world, late, byChain), late.length)
  await untilSame('what is final of them is booked', async () => (await countJournals(world, late)) > 0, true)
  if (withRole(world, 'http').length === 0) throw new Error('nobody takes webhooks')
  world.intake.proxy.heal()
}

/** State and books of the deposits of these payments. */
function reportedOf(world: ChaosWorld, paid: readonly PaidDeposit[]): Promise<object[]> {
  return ask(
    world,
    `select tx, state, matrix, amount::text, (
       select count(*)::integer from ledger_journal where ledger_journal.deposit_id = deposit.id
     ) as journals
     from deposit where tx = any($1) and merged_into is null order by tx, id`,
    [txsOf(paid)],
  )
}

async function countDeposits(
  world: ChaosWorld,
  paid: readonly PaidDeposit[],
  which: string,
): Promise<number> {
  const rows = await ask(
    world,
    `select from deposit where tx = any($1) and merged_into is null and ${which}`,
    [txsOf(paid)],
  )
  return rows.length
}

async function countJournals(world: ChaosWorld, paid: readonly PaidDeposit[]): Promise<number> {
  const rows = await ask(world, `select from ledger_journal where split_part(transfer, '/', 2) = any($1)`, [
    txsOf(paid),
  ])
  return rows.length
}

async function timesStored(world: ChaosWorld, events: readonly RealEvent[]): Promise<number[]> {
  const rows = await ask<{ times: number }>(
    world,
    `select (select count(*)::integer from inbox where source = 'webhook' and source_key = wanted) as times
     from unnest($1::text[]) with ordinality as event (wanted, place) order by place`,
    [events.map(({ id }) => id)],
  )
  return rows.map(({ times }) => times)
}
