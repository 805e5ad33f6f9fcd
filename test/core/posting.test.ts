import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { type DecidedDeposit, decide } from '../../src/core/decide.ts'
import type { Observation } from '../../src/core/evidence.ts'
import type { Amount } from '../../src/core/money.ts'
import type { Journal } from '../../src/core/posting.ts'
import { anyEvidence, groupOf, runs } from '../support/any-evidence.ts'
import { at, claim, delivery, liquidity, payment, policy, usdtOnBase, webhook } from '../support/evidence.ts'

const rules = { policy, routes: [], senders: new Set([`arbitrum/${liquidity}`]) }

function decided(observations: readonly Observation[], booked: readonly Journal[] = []): DecidedDeposit[] {
  return [...decide(groupOf(observations, booked), rules, at(600)).deposits]
}

const journalsOf = (observations: readonly Observation[], booked: readonly Journal[] = []) =>
  decided(observations, booked).flatMap(({ journals }) => journals)

/** What the accounts hold after these journals, without those that hold nothing. */
function balances(journals: readonly Journal[]): Record<string, bigint> {
  const sums = new Map<string, bigint>()
  const add = (key: string, amount: bigint) => sums.set(key, (sums.get(key) ?? 0n) + amount)
  for (const { debit, credit, asset, amount } of journals.flatMap(({ transfers }) => transfers)) {
    add(`${debit} ${asset}`, amount)
    add(`${credit} ${asset}`, 0n - amount)
  }
  return Object.fromEntries([...sums].filter(([, sum]) => sum !== 0n))
}

const anyHistory = fc.array(anyEvidence, { minLength: 1, maxLength: 4 })

/** Books what each step of a history asks for, as the evidence grows. */
function bookAll(history: readonly Observation[][]): { booked: Journal[]; known: Observation[] } {
  const booked: Journal[] = []
  const known: Observation[] = []
  for (const step of history) {
    known.push(...step)
    booked.push(...journalsOf(known, booked))
  }
  return { booked, known }
}

test('what is booked is not asked for again', () => {
  fc.assert(
    fc.property(anyEvidence, (all) => {
      expect(journalsOf(all, journalsOf(all))).toEqual([])
    }),
    runs,
  )
})

test('however the evidence came in, the books end the same', () => {
  fc.assert(
    fc.property(anyHistory, (history) => {
      const { booked, known } = bookAll(history)
      expect(balances(booked)).toEqual(balances(journalsOf(known)))
      expect(journalsOf(known, booked)).toEqual([])
    }),
    runs,
  )
})

test('no posting key is used twice, and each reversal takes back one standing journal', () => {
  fc.assert(
    fc.property(anyHistory, (history) => {
      const { booked } = bookAll(history)
      const keys = booked.map(({ key }) => key)
      expect(new Set(keys).size).toBe(keys.length)
      const reversals = booked.filter(({ kind }) => kind === 'reversal')
      const originals = reversals.map(({ reverses }) => booked.find(({ key }) => key === reverses))
      expect(new Set(originals).size).toBe(reversals.length)
      for (const [place, original] of originals.entries()) {
        expect(original?.kind).not.toBe('reversal')
        expect(balances([...(original ? [original] : []), ...reversals.slice(place, place + 1)])).toEqual({})
      }
    }),
    runs,
  )
})

test('every transfer has a positive amount, two accounts and the assets of its leg', () => {
  fc.assert(
    fc.property(anyEvidence, (all) => {
      for (const { debit, credit, amount } of journalsOf(all).flatMap(({ transfers }) => transfers)) {
        expect(amount).toBeGreaterThan(0n)
        expect(debit).not.toBe(credit)
      }
    }),
    runs,
  )
})

test('what is booked of a payment is what its chain says, and only while it is final there', () => {
  fc.assert(
    fc.property(anyEvidence, (all) => {
      for (const { evidence, journals } of decided(all)) {
        const booked = journals.filter(({ kind }) => kind === 'deposit').flatMap(({ transfers }) => transfers)
        const { deposit } = evidence
        const final = deposit !== null && deposit.state === 'final' && deposit.amount > 0n ? [deposit] : []
        if (booked.length > 0) {
          expect(booked.map(({ asset, amount }) => ({ asset, amount }))).toEqual(
            final.map(({ asset, amount }) => ({ asset, amount })),
          )
        }
        if (final.length === 0) expect(journals).toEqual([])
      }
    }),
    runs,
  )
})

test('a settlement takes the whole payment out of transit, once the payment itself is booked', () => {
  fc.assert(
    fc.property(anyEvidence, (all) => {
      for (const { evidence, journals } of decided(all)) {
        if (!journals.some(({ kind }) => kind === 'settlement')) continue
        const left = Object.keys(balances(journals)).filter((key) => key.startsWith('assets:in_transit'))
        expect(left).toEqual([])
        expect(evidence.api).not.toBeNull()
        expect(evidence.approval).not.toBeNull()
      }
    }),
    runs,
  )
})

const reconciled = [webhook(), claim(), payment(), delivery()]

test.each<[string, Observation[]]>([
  ['nothing', []],
  ['a webhook alone', [webhook()]],
  ['a record alone', [claim()]],
  ['both words of the service', [webhook(), claim()]],
  ['a payment that is not final', [webhook(), claim(), payment({ stage: 'seen' })]],
  ['a payment that vanished', [claim(), payment(), payment({ stage: 'orphaned', epoch: 1 })]],
  ['a delivery alone', [delivery()]],
])('%s books nothing', (_what, observations) => {
  expect(journalsOf(observations)).toEqual([])
})

test('a delivery on a webhook’s word alone is not booked as the settlement of a deposit', () => {
  expect(journalsOf([webhook(), payment(), delivery()]).map(({ kind }) => kind)).toEqual(['deposit'])
})

test('a part of what the API states is not booked as all of it on a webhook’s word', () => {
  const part = delivery({ amount: 40_000_000n as Amount })
  const kinds = (...more: Observation[]) => journalsOf([payment(), part, ...more]).map(({ kind }) => kind)
  expect(kinds(webhook(), claim({ status: 'settling' }))).toEqual(['deposit'])
  expect(kinds(webhook({ status: 'settling' }), claim())).toEqual([
    'deposit',
    'settlement',
    'conversion',
    'shortage',
  ])
})

test('the journals of a forwarded deposit', () => {
  const shown = journalsOf(reconciled).map(({ key, eventAt, transfers }) => [
    key.replace(/0x0+/, '0x'),
    eventAt.toISOString(),
    ...transfers.map(
      ({ debit, credit, asset, amount }) => `${debit} / ${credit} ${amount} ${asset.split('/')[0]}`,
    ),
  ])
  expect(shown).toMatchInlineSnapshot(`
    [
      [
        "deposit/base/0x706179/0#1",
        "2026-01-01T00:00:00.000Z",
        "assets:in_transit:base / liabilities:deposits:channel:shop 100000000 base",
      ],
      [
        "settlement/base/0x706179/0#1",
        "2026-01-01T00:03:00.000Z",
        "trading:base/0x00000000000000000000000000000000000000b1 / assets:in_transit:base 100000000 base",
        "assets:forwarded:arbitrum:0x00000000000000000000000000000000000000ff / trading:arbitrum/0x00000000000000000000000000000000000000a1 99900000 arbitrum",
        "expenses:fees:service / trading:arbitrum/0x00000000000000000000000000000000000000a1 100000 arbitrum",
      ],
      [
        "conversion/base/0x706179/0#1",
        "2026-01-01T00:03:00.000Z",
        "liabilities:deposits:channel:shop / trading:base/0x00000000000000000000000000000000000000b1 100000000 base",
        "trading:arbitrum/0x00000000000000000000000000000000000000a1 / liabilities:deposits:channel:shop 100000000 arbitrum",
      ],
    ]
  `)
})

test('a payment that turns out to be of another asset is reversed and booked again under the next number', () => {
  const booked = journalsOf(reconciled)
  const other = payment({ epoch: 1, asset: usdtOnBase, blockHash: '0xother' })
  const journals = journalsOf([...reconciled, other], booked)
  expect(journals.map(({ key, kind }) => `${kind} ${key.split('/')[0]} ${key.slice(-2)}`)).toEqual([
    'reversal reversal #1',
    'reversal reversal #1',
    'reversal reversal #1',
    'deposit deposit #2',
    'settlement settlement #2',
    'conversion conversion #2',
  ])
  expect(balances([...booked, ...journals])).toEqual(balances(journalsOf([...reconciled, other])))
})

function feeAccounts(fee: bigint | null): string[] {
  const stated = claim({ settlement: { fee: fee as Amount | null } })
  const accounts = Object.keys(balances(journalsOf([stated, payment(), delivery()])))
  return accounts.filter((key) => key.startsWith('expenses:'))
}

test('a transfer of nothing is a deposit of nothing, and is not booked', () => {
  const nothing = { deposit: { amount: 0n as Amount }, settlement: { amount: 0n as Amount, fee: null } }
  const amount = 0n as Amount
  expect(journalsOf([claim(nothing), payment({ amount }), delivery({ amount })])).toEqual([])
})

test('a fee is booked only where the API states one', () => {
  expect(feeAccounts(null)).toEqual([])
  expect(feeAccounts(0n)).toEqual([])
  expect(feeAccounts(5n)).toHaveLength(1)
})
