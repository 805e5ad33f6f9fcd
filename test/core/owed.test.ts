import { expect, test } from 'vitest'
import type { Address } from '../../src/core/asset.ts'
import { decide } from '../../src/core/decide.ts'
import type { DecisionOutcome, Observation, writeOffAccounts } from '../../src/core/evidence.ts'
import type { Amount } from '../../src/core/money.ts'
import type { ContraRule } from '../../src/core/owed.ts'
import type { Journal } from '../../src/core/posting.ts'
import { groupOf } from '../support/any-evidence.ts'
import { balances } from '../support/by-policy.ts'
import {
  at,
  base,
  channelAddress,
  channelApproval,
  claim,
  credit,
  delivery,
  payment,
  policy,
  recipient,
  txId,
  usdcOnArbitrum,
  usdcOnBase,
  walletAddress,
  walletApproval,
  webhook,
  writeOffOf,
} from '../support/evidence.ts'

function journals(
  observations: readonly Observation[],
  {
    rule,
    booked = [],
    minute = 600,
  }: { rule?: Omit<ContraRule, 'pattern'>; booked?: Journal[]; minute?: number },
): Journal[] {
  const contras = rule === undefined ? [] : [{ pattern: {}, ...rule }]
  const rules = { policy, routes: [], senders: new Set<string>(), contras }
  return decide(groupOf(observations, booked), rules, at(minute)).deposits.flatMap((one) => [...one.journals])
}

const forwarded = `assets:forwarded:arbitrum:${channelApproval.forward?.recipient} ${usdcOnArbitrum}`
const fees = `expenses:fees:service ${usdcOnArbitrum}`
const owed = `liabilities:deposits:channel:shop ${usdcOnArbitrum}`
const receivable = `assets:receivable:service ${usdcOnArbitrum}`
const liability = 'liabilities:deposits:{kind}:{id}'
const whole = [claim(), payment(), delivery()]

test.each<[string, Omit<ContraRule, 'pattern'> | undefined, Record<string, bigint>]>([
  [
    'to our own treasury: it is owed in the asset delivered, and the fee is ours',
    undefined,
    { [forwarded]: 99_900_000n, [fees]: 100_000n, [owed]: -100_000_000n },
  ],
  [
    'to our own treasury, at the fee of the customer',
    { account: liability, fee: 'customer' },
    { [forwarded]: 99_900_000n, [owed]: -99_900_000n },
  ],
  ["to the customer's wallet: nothing is owed any more", { account: liability, delivery: 'ends' }, {}],
  [
    "to the customer's wallet, at our fee: the fee is still owed",
    { account: liability, delivery: 'ends', fee: 'us' },
    { [fees]: 100_000n, [owed]: -100_000n },
  ],
  [
    'for a sale: the trading accounts hold the conversion',
    { account: 'income:sales' },
    {
      [forwarded]: 99_900_000n,
      [fees]: 100_000n,
      [`income:sales ${usdcOnBase}`]: -100_000_000n,
      [`trading:${usdcOnBase} ${usdcOnBase}`]: 100_000_000n,
      [`trading:${usdcOnArbitrum} ${usdcOnArbitrum}`]: -100_000_000n,
    },
  ],
  [
    'and stays owed in the asset paid',
    { account: liability, delivery: 'stays' },
    {
      [forwarded]: 99_900_000n,
      [fees]: 100_000n,
      [`liabilities:deposits:channel:shop ${usdcOnBase}`]: -100_000_000n,
      [`trading:${usdcOnBase} ${usdcOnBase}`]: 100_000_000n,
      [`trading:${usdcOnArbitrum} ${usdcOnArbitrum}`]: -100_000_000n,
    },
  ],
])('what is delivered %s', (_what, rule, expected) => {
  const booked = journals(whole, { ...(rule && { rule }) })
  expect(balances(booked)).toEqual(expected)
  expect(journals(whole, { ...(rule && { rule }), booked })).toEqual([])
})

test('a StableWallet is owed what it holds: the fee is the customer’s', () => {
  const credited = claim({
    owner: walletApproval.owner,
    deposit: { address: walletAddress },
    settlement: { network: 'stable-wallet', address: 'savings' as Address, asset: credit, tx: null },
  } as Parameters<typeof claim>[0])
  expect(balances(journals([credited, payment({ to: walletAddress })], {}))).toEqual({
    [`assets:stable_wallet:savings ${credit}`]: 99_900_000n,
    [`liabilities:deposits:stable_wallet:savings ${credit}`]: -99_900_000n,
  })
})

const short = [claim(), payment(), delivery({ amount: 79_900_000n as Amount })]
const settlementMinutes = policy.settlementWithinMs / 60_000

test('what a delivery lacks is owed by the service once its deadline has passed, and a top-up reverses that', () => {
  const soon = journals(short, { minute: settlementMinutes })
  expect(balances(soon)).toMatchObject({ [`trading:${usdcOnArbitrum} ${usdcOnArbitrum}`]: 20_000_000n })
  const late = [...soon, ...journals(short, { booked: soon })]
  expect(balances(late)).toEqual({
    [forwarded]: 79_900_000n,
    [fees]: 100_000n,
    [receivable]: 20_000_000n,
    [owed]: -100_000_000n,
  })
  const topUp = delivery({ tx: txId('top up'), amount: 20_000_000n as Amount })
  const stated = claim({ settlement: { furtherTxs: [topUp.tx] }, receivedAt: at(500) })
  const all = [...late, ...journals([...short, stated, topUp], { booked: late })]
  expect(balances(all)).toEqual({ [forwarded]: 99_900_000n, [fees]: 100_000n, [owed]: -100_000_000n })
})

/** Of what the delivery lacks. */
function rest(account: (typeof writeOffAccounts)[number], amount = 20_000_000n): DecisionOutcome {
  return { kind: 'write_off', account, of: 'shortage', asset: usdcOnArbitrum, amount: amount as Amount }
}

test.each<[string, DecisionOutcome, Record<string, bigint>]>([
  [
    'as an expense',
    rest('expenses:write_off'),
    { [`expenses:write_off ${usdcOnArbitrum}`]: 20_000_000n, [owed]: -100_000_000n },
  ],
  ['by owing the owner less', rest('owner'), { [owed]: -80_000_000n }],
  [
    'to the service, which owes it anyway',
    rest('assets:receivable:service'),
    { [receivable]: 20_000_000n, [owed]: -100_000_000n },
  ],
])('what a delivery lacks is written off %s', (_what, verdict, expected) => {
  const booked = journals([...short, decision(verdict, at(120))], {})
  expect(balances(booked)).toEqual({ [forwarded]: 79_900_000n, [fees]: 100_000n, ...expected })
  const same = booked.flatMap(({ transfers }) => transfers).filter((one) => one.debit === one.credit)
  expect(same).toEqual([])
})

test.each<[string, DecisionOutcome, [lost: bigint, owed: bigint]]>([
  ['the service then states more', rest('expenses:write_off', 5_000_000n), [5_000_000n, 15_000_000n]],
  ['a part then comes after all', rest('expenses:write_off', 30_000_000n), [20_000_000n, 0n]],
  [
    'it was decided about another asset',
    { ...rest('expenses:write_off'), asset: usdcOnBase } as DecisionOutcome,
    [0n, 20_000_000n],
  ],
  ['it was decided about the payment', writeOffOf('expenses:write_off'), [0n, 20_000_000n]],
])('a write-off takes what was decided at most: %s', (_what, verdict, expected) => {
  const held = balances(journals([...short, decision(verdict, at(120))], {}))
  expect([held[`expenses:write_off ${usdcOnArbitrum}`] ?? 0n, held[receivable] ?? 0n]).toEqual(expected)
})

function decision(verdict: DecisionOutcome, receivedAt: Date): Observation {
  const paid = { role: 'deposit', network: base, tx: txId('pay'), index: '0', to: channelAddress } as const
  const people = { by: 'erin', approvedBy: 'max', reason: 'agreed' }
  return { kind: 'decision', id: 'one', verdict, receivedAt, ...paid, ...people }
}

const times = (booked: readonly Journal[]) =>
  Object.fromEntries(booked.map(({ kind, eventAt }) => [kind, eventAt]))

test('a shortage is of its deadline, and its write-off of the decision; none is before what it follows', () => {
  const writtenOff = decision(rest('owner'), at(10))
  const dueAt = at(settlementMinutes + 2)
  expect(times(journals([...short, writtenOff], {}))).toMatchObject({ shortage: dueAt, write_off: dueAt })
  const later = decision(rest('owner'), at(120))
  expect(times(journals([...short, later], {}))).toMatchObject({ shortage: dueAt, write_off: at(120) })
  const late = [claim(), payment(), delivery({ amount: 79_900_000n as Amount, blockAt: at(90) })]
  expect(times(journals(late, {}))).toMatchObject({ settlement: at(90), shortage: at(90) })
})

test('on the word of a webhook nothing is short, and nothing moves', () => {
  const told = [webhook(), claim({ status: 'settling' }), payment()]
  expect(Object.keys(times(journals([...told, delivery()], {})))).toEqual(['deposit', 'settlement'])
  const less = delivery({ amount: 79_900_000n as Amount })
  expect(Object.keys(times(journals([...told, less], {})))).toEqual(['deposit'])
})

test('what is delivered in the asset paid moves only if less or more is owed than was paid', () => {
  const approval = { ...channelApproval, forward: { network: base, recipient } }
  const kindsWith = (fee: bigint) => {
    const settlement = { network: base, asset: usdcOnBase, fee: fee as Amount }
    const seen = [claim({ settlement }), payment(), delivery({ network: base, asset: usdcOnBase })]
    const group = { ...groupOf(seen), approvals: [approval] }
    const rules = { policy, routes: [], senders: new Set<string>() }
    return decide(group, rules, at(600)).deposits.flatMap((one) => one.journals.map(({ kind }) => kind))
  }
  expect(kindsWith(100_000n)).toEqual(['deposit', 'settlement'])
  expect(kindsWith(90_000n)).toEqual(['deposit', 'settlement', 'conversion'])
})

test('no line has an amount of zero, also if the service states nothing', () => {
  const nothing = { amount: 0n as Amount, fee: 0n as Amount }
  const seen = [claim({ settlement: nothing }), payment(), delivery({ amount: 1n as Amount })]
  const booked = journals(seen, {})
  expect(booked.map(({ kind }) => kind)).toEqual(['deposit', 'settlement', 'conversion'])
  expect(booked.flatMap(({ transfers }) => transfers).filter(({ amount }) => amount <= 0n)).toEqual([])
})
