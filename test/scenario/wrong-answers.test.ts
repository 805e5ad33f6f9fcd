import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { faultTable, type RequestKnob } from '../../src/service/faults/fault-table.ts'
import { isGoodInTheEnd } from '../support/reported-faults.ts'
import { type Answer, askForDeposits, metric, shows } from '../support/struck-requests.ts'
import { until } from '../support/until.ts'
import { startWorld, type World } from '../support/world.ts'

/** More than the five minutes that depositd rests if an answer asks for a day. */
const withinMs = 400_000
const requestKnobs = Object.keys(shows) as RequestKnob[]
const rates = {
  refuseCallRate: 0.2,
  failCallRate: 0.2,
  stallCallRate: 0.1,
  reorderRecordsRate: 0.5,
  driftPageRate: 0.5,
}
const callsMax = 300
/** More than a page that drifts holds. */
const payments = ['shop', 'savings'].flatMap((owner) =>
  ['3', '4', '5', '6'].map((amount) => ({ network: 'base', symbol: 'USDC', owner, amount })),
)

const stack = new AsyncDisposableStack()
let world: World
let all: string[]
let answers: Answer[]

beforeAll(async () => {
  world = await startWorld({ networks: ['base'] }, stack)
  const txs = await Promise.all(payments.map((payment) => world.pay(payment)))
  all = await until('every deposit is listed', async () => {
    const { ids } = await askForDeposits(world)
    return ids.length === payments.length ? ids : null
  })
  world.service.faults.set({ seed: 'wrong answers', ...rates })
  txs.push(await world.pay({ network: 'base', symbol: 'ETH', owner: 'shop', amount: '0.1' }))
  answers = []
  while (answers.length < callsMax && !requestKnobs.every(isSeen)) answers.push(await askForDeposits(world))
  for (const tx of txs)
    await until(
      'it is reconciled all the same',
      async () => (await isGoodInTheEnd(world.db, tx)) || null,
      withinMs,
    )
}, withinMs + 60_000)
afterAll(() => stack.disposeAsync())

const isSeen = (knob: RequestKnob) => answers.some((answer) => shows[knob](answer, all))

test.each(requestKnobs)('%s strikes, and depositd gets over it', (knob) => {
  expect(faultTable[knob].mismatch).toBeNull()
  expect(isSeen(knob)).toBe(true)
})

test.each(['limited', 'failed'])('depositd counts polls that they made end as %s', async (outcome) => {
  const count = () => metric(world, 'depositd_poll_requests_total', `service="default",outcome="${outcome}"`)
  await until(`a poll is ${outcome}`, async () => (await count()) > 0 || null, withinMs)
})

test('the coin that pays for sweeping tokens is ignored', async () => {
  const ignored = () =>
    world.db.selectFrom('deposit').select('asset').where('state', '=', 'ignored').execute()
  await until('a top-up is seen', async () => (await ignored()).length > 0 || null, withinMs)
  expect(new Set((await ignored()).map(({ asset }) => asset))).toEqual(new Set(['base/native']))
  const { rows } =
    await sql`select kind from mismatch where kind = 'unreported' and cleared_at is null`.execute(world.db)
  expect(rows).toEqual([])
})
