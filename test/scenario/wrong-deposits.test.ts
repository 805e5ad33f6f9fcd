import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type DepositKnob, faultKnobs } from '../../src/service/faults/fault-table.ts'
import { brokenInvariants } from '../support/facts-of-world.ts'
import { decisions, endedBy, endStates, resendWebhooks } from '../support/fix-deposits.ts'
import {
  allAsExpected,
  deliveredOf,
  expected,
  isGoodInTheEnd,
  lateKinds,
  namedForwards,
  reported,
  shownOf,
} from '../support/reported-faults.ts'
import {
  depositKnobs,
  type StruckPayment,
  sendStruckPayments,
  signStruckPayments,
  strikingRate,
} from '../support/struck-payments.ts'
import { metric, shows } from '../support/struck-requests.ts'
import { addressed, decided, recordKnobs, routes, till, wishes } from '../support/struck-wishes.ts'
import { until } from '../support/until.ts'
import { startWorld, type World } from '../support/world.ts'

const withinMs = 400_000

/** The delay is longer than every deadline: once the late ones are there, nothing else can become overdue. */
const deadlines = {
  webhookWithin: '20s',
  apiWithin: '20s',
  reportWithin: '25s',
  settlementWithin: '30s',
  refundWithin: '20s',
  // A claim that names no transaction lacks its payment, too, once that is due.
  chainWithin: '1h',
}
const delayMs = 50_000
const sections = () => ({ schedule: { pollQuiet: '1m' } })

const stack = new AsyncDisposableStack()
let world: World
let payments: StruckPayment[]

beforeAll(async () => {
  const settings = { policy: { ...deadlines, routes }, channels: [till], sections }
  // What is said to be on another network needs one of the same family.
  world = await startWorld({ networks: ['base', 'arbitrum', 'solana'], ...settings }, stack)
  const rates = Object.fromEntries(depositKnobs.map((knob) => [knob, strikingRate]))
  world.service.faults.set({ seed: 'every knob', delayMs, ...rates })
  const base = world.networks.find(({ name }) => name === 'base')
  if (base === undefined) throw new Error('the world has Base')
  payments = await signStruckPayments(
    base,
    world.service.faults,
    wishes.map((wish) => addressed(world, wish)),
  )
  await sendStruckPayments(base, payments)
  // What is not reached is told by the tests.
  await until('every fault is told', () => allAsExpected(world.db, payments), withinMs).catch(() => null)
}, 2 * withinMs)
afterAll(() => stack.disposeAsync())

const struck = (knob: DepositKnob | null, owner = 'shop'): StruckPayment => {
  const found = payments.find((payment) => payment.knob === knob && payment.owner === owner)
  if (found === undefined) throw new Error(`no payment to ${owner} is struck by ${knob}`)
  return found
}

describe('depositd reports exactly what the table of faults says', () => {
  test.each(wishes.map((wish, place) => ({ ...wish, place })))(
    '$knob on a deposit to $owner',
    async ({ place }) => {
      const payment = payments[place]
      if (payment === undefined) throw new Error('it was not paid')
      expect(await reported(world.db, payment)).toEqual(expected(payment))
    },
  )

  test('and nothing else', async () => {
    // One that ended may open again, once the other source says the same later.
    const { rows } = await sql<{ kind: string }>`
      select distinct on (kind, subject) kind, tx, detail from mismatch left join deposit on deposit.id = deposit_id
      where kind <> 'record_disappeared' and (cleared_at is null or kind <> all(${lateKinds})) order by kind, subject`.execute(
      world.db,
    )
    const kinds = rows.map(({ kind }) => kind)
    const lasting = payments.flatMap((payment) => {
      const { ever, open } = expected(payment)
      return ever.filter((kind) => open.includes(kind) || !lateKinds.includes(kind))
    })
    expect(kinds.toSorted(), JSON.stringify(rows)).toEqual(lasting.toSorted())
  })

  test('of lost webhooks, that there is none among the evidence, and the books are whole', async () => {
    const shown = await shownOf(world.db, struck('dropWebhookRate').tx)
    expect(shown?.matrix.deposit).toEqual({ webhook: 'absent', api: 'agrees', chain: 'agrees' })
    expect(shown?.evidence.some(({ source }) => source === 'webhook')).toBe(false)
    const kinds = shown?.journals.map(({ posting_key: key }) => key.split('/')[0])
    expect(kinds).toEqual(['deposit', 'settlement', 'conversion'])
  })

  test('of a fee that is too high, what was kept to the unit and what is allowed', async () => {
    const shown = await shownOf(world.db, struck('overchargeRate', till.id).tx)
    const { allowed, paid, delivered } = shown?.mismatches[0]?.detail ?? {}
    expect(allowed).toBe('10 bps')
    expect(BigInt(paid ?? 0) - BigInt(delivered ?? 0)).toBe((BigInt(paid ?? 0) * 20n) / 10_000n)
  })

  test('of a payment on another network, the network that each source names', async () => {
    const shown = await shownOf(world.db, struck('renameNetworkRate').tx)
    expect(shown?.mismatches[0]?.detail).toMatchObject({ webhook: 'base', api: 'arbitrum', chain: 'base' })
  })

  test.each(['shop', 'payroll'])('of a short forward to %s, the shortage to the unit', async (owner) => {
    const shown = await shownOf(world.db, struck('shortForwardRate', owner).tx)
    const short = shown?.mismatches.find(({ kind }) => kind === 'settlement_short')
    const { stated, delivered } = short?.detail ?? {}
    expect(BigInt(delivered ?? 0)).toBe(BigInt(stated ?? 0) - BigInt(stated ?? 0) / 10n)
    expect(shown?.deposit.settlement_amount_base).toBe(delivered)
  })
})

describe('what depositd gets over is seen', () => {
  test('a doubled webhook as a duplicate', async () => {
    expect(
      await metric(world, 'depositd_webhook_requests_total', 'service="default",outcome="duplicate"'),
    ).toBeGreaterThan(0)
  })

  test('reordered webhooks in the order of the evidence', async () => {
    const shown = await shownOf(world.db, struck('reorderWebhookRate').tx)
    const said = shown?.evidence.filter(({ source }) => source === 'webhook').map(({ what }) => what)
    const [confirmed = -1, settling = -1] = ['is confirmed', 'is settling'].map((word) =>
      said?.findIndex((what) => what.endsWith(word)),
    )
    expect(settling).toBeGreaterThanOrEqual(0)
    expect(confirmed).toBeGreaterThan(settling)
  })
})

describe.each(['shop', 'payroll'])('forwards to %s that are not one to one', (owner) => {
  test('in parts are delivered whole by two transactions, each named by the service', async () => {
    const shown = await shownOf(world.db, struck('splitForwardRate', owner).tx)
    expect(shown?.matrix.settlement).toEqual({ webhook: 'agrees', api: 'agrees', chain: 'agrees' })
    const named = await namedForwards(world.db, [struck('splitForwardRate', owner)])
    expect(named).toHaveLength(2)
    const sum = named.reduce((all, { amount }) => all + amount, 0n)
    expect(await deliveredOf(world.db, struck('splitForwardRate', owner).tx)).toBe(sum)
  })

  test('for two deposits have shares that add up', async () => {
    const joined = payments.filter((one) => one.knob === 'joinForwardRate' && one.owner === owner)
    const named = await namedForwards(world.db, joined)
    expect(named).toHaveLength(1)
    const shares = await Promise.all(joined.map(({ tx }) => deliveredOf(world.db, tx)))
    expect(shares).toHaveLength(2)
    expect(shares.reduce((sum, share) => sum + share, 0n)).toBe(named[0]?.amount)
  })
})

describe('once records are told right', () => {
  // What a person decides about goes on until that is done.
  const lasting: readonly DepositKnob[] = ['dropTransactionRate', 'claimAgainRate', 'reopenRate']
  const mended = depositKnobs.filter((knob) => !lasting.includes(knob))
  beforeAll(() => world.service.faults.set(Object.fromEntries(mended.map((knob) => [knob, 0]))))

  test.each(recordKnobs)('what %s caused clears by itself', async (knob) => {
    for (const owner of ['shop', 'savings']) {
      const { tx } = struck(knob, owner)
      await until(
        `${knob} of ${owner} is reconciled`,
        async () => (await isGoodInTheEnd(world.db, tx)) || null,
        withinMs,
      )
    }
  })
})

const resendKnobs = endedBy('resend')

describe('once webhooks are sent again', () => {
  test.each(resendKnobs)('what %s caused clears, and the deposit is reconciled', async (knob) => {
    const { tx } = struck(knob)
    const shown = await shownOf(world.db, tx)
    expect(await resendWebhooks(world, String(shown?.deposit.service_id))).toBeGreaterThan(0)
    await until(`${knob} is mended`, async () => (await isGoodInTheEnd(world.db, tx)) || null, withinMs)
  })
})

describe('what only a person can end', () => {
  afterAll(() => world.service.faults.set({ dropTransactionRate: 0 }))
  test.each(decided)('$knob on a deposit to $owner', async ({ knob, owner }) => {
    const payment = struck(knob, owner)
    await decisions[knob](world, payment)
    const state = async () => (await shownOf(world.db, payment.tx))?.deposit.state
    await until(`it is ${endStates[knob]}`, async () => (await state()) === endStates[knob] || null, withinMs)
  })
})

describe('once what was reopened is settled again', () => {
  beforeAll(() => world.service.faults.set({ reopenRate: 0 }))
  test.each(['shop', 'payroll'])('evidence ends what a person had decided of %s', async (owner) => {
    const { tx } = struck('reopenRate', owner)
    await until('it is settled again', async () => (await isGoodInTheEnd(world.db, tx)) || null, withinMs)
    const said = (await shownOf(world.db, tx))?.evidence.filter(({ source }) => source === 'webhook')
    expect(said?.slice(-3).map(({ what }) => what.split(' ').at(-1))).toEqual([
      'settled',
      'settling',
      'settled',
    ])
  })
})

describe('in the end', () => {
  test('every mismatch has ended or was decided by a person', async () => {
    const { rows } = await sql`
      select kind, subject from mismatch where cleared_at is null and resolved_at is null`.execute(world.db)
    expect(rows).toEqual([])
  })

  test('nothing is left in transit or in suspense, but what the service owes', async () => {
    const { rows } = await sql<{ account: string }>`
      select distinct account from ledger_balance where balance <> 0 and account similar to
        '(assets:in_transit|assets:receivable|liabilities:suspense)%'`.execute(world.db)
    expect(rows).toEqual([{ account: 'assets:receivable:service' }])
  })

  test('the books hold', async () => {
    expect(await brokenInvariants(world)).toEqual([])
  })
})

test('every fault of the table has its scenario here or among the wrong answers, and what ends it', () => {
  expect(recordKnobs.toSorted()).toEqual(endedBy('record').toSorted())
  expect(Object.keys(decisions).toSorted()).toEqual(endedBy('person').toSorted())
  expect([...depositKnobs, ...Object.keys(shows)].toSorted()).toEqual(faultKnobs.toSorted())
})
