import { expect, test } from 'vitest'
import type { Observation } from '../../../src/core/evidence.ts'
import type { Approval } from '../../../src/core/matching/divide.ts'
import {
  at,
  channelApproval,
  claim,
  delivery,
  elsewhere,
  liquidity,
  payment,
  policy,
  walletAddress,
  webhook,
} from '../../support/evidence.ts'
import { late } from '../../support/outcome.ts'
import { decideSearched } from '../../support/searched.ts'

const contra = { pattern: {}, account: 'liabilities:clearing', delivery: 'ends' as const }
const rules = { policy, routes: [], senders: new Set([`arbitrum/${liquidity}`]), contras: [contra] }

function only(observations: readonly Observation[], validity: Partial<Approval>, now = late) {
  const group = { observations, approvals: [{ ...channelApproval, ...validity }], deposits: [], journals: [] }
  const [deposit] = decideSearched(group, rules, now).deposits
  if (deposit === undefined) throw new Error('no deposit')
  return deposit
}

/** What a payment in a block of minute 1 becomes: its state, its mismatches, and who has the credit. */
function outcome(validity: Partial<Approval>, now = late): string {
  const { verdict, journals } = only(
    [payment({ blockAt: at(1) }), delivery(), claim(), webhook()],
    validity,
    now,
  )
  const [paid] = journals.flatMap(({ transfers }) => transfers)
  return [verdict.state, ...verdict.mismatches.map(({ kind }) => kind), paid?.credit].join(' ')
}

const usual = 'reconciled liabilities:clearing'
const outside = 'settled unknown_address liabilities:suspense'

test.each<[string, Partial<Approval>, string]>([
  ['without limits', {}, usual],
  ['before the end', { endsAt: at(2) }, usual],
  ['at the end', { endsAt: at(1) }, outside],
  ['after the end', { endsAt: at(0) }, outside],
  ['before the start', { startsAt: at(2) }, outside],
  ['at the start', { startsAt: at(1) }, usual],
  ['between both', { startsAt: at(0), endsAt: at(2) }, usual],
])('a payment %s', (_when, validity, wanted) => {
  expect(outcome(validity)).toBe(wanted)
})

test('the time of the block decides, whenever it is decided and received', () => {
  expect(outcome({ endsAt: at(2) }, at(100_000))).toBe(usual)
  expect(outcome({ endsAt: at(1) }, at(100_000))).toBe(outside)
  const [early, delayed] = [{ receivedAt: at(0) }, { receivedAt: at(500) }]
  const kinds = [early, delayed].map((times) =>
    only([payment({ blockAt: at(0), ...times }), claim(), delivery()], {
      endsAt: at(1),
    }).verdict.mismatches.map(({ kind }) => kind),
  )
  expect(kinds.flat()).not.toContain('unknown_address')
})

test('the money is booked on its way and with its recipient, and owed to nobody until a person decides', () => {
  const { journals } = only([payment(), delivery(), claim(), webhook()], { endsAt: at(0) })
  const lines = journals.flatMap(({ kind, transfers }) =>
    transfers.map(({ debit, credit, amount }) =>
      `${kind} ${debit} ${credit} ${amount}`.replaceAll(/0x0+/g, ''),
    ),
  )
  expect(lines).toEqual([
    'deposit assets:in_transit:base liabilities:suspense 100000000',
    'settlement trading:base/b1 assets:in_transit:base 100000000',
    'settlement assets:forwarded:arbitrum:ff trading:arbitrum/a1 99900000',
    'settlement expenses:fees:service trading:arbitrum/a1 100000',
    'conversion liabilities:suspense trading:base/b1 100000000',
    'conversion trading:arbitrum/a1 liabilities:suspense 100000000',
  ])
})

test('one that the service has not reported is a mismatch at once, and gone with its block', () => {
  const { verdict, journals } = only([payment()], { startsAt: at(-9), endsAt: at(0) }, at(3))
  expect(verdict.mismatches).toEqual([
    {
      kind: 'unknown_address',
      detail: {
        network: 'base',
        address: channelApproval.address,
        owner: 'channel/shop',
        block: at(0).toISOString(),
        from: at(-9).toISOString(),
        until: at(0).toISOString(),
      },
      loss: null,
    },
  ])
  expect(journals.map(({ kind }) => kind)).toEqual(['deposit'])
  const gone = only([payment({ stage: 'orphaned' })], { endsAt: at(0) }, at(3))
  expect(gone.verdict.mismatches.map(({ kind }) => kind)).not.toContain('unknown_address')
})

test('an address that the service changes is compared with the one that has not ended', () => {
  const next = { ...channelApproval, address: walletAddress }
  const observations = [claim({ deposit: { address: elsewhere } })]
  const approvals = [{ ...channelApproval, endsAt: at(0) }, next]
  const [deposit] = decideSearched(
    { observations, approvals, deposits: [], journals: [] },
    rules,
    late,
  ).deposits
  expect(deposit?.evidence.addressConflict).toMatchObject({ stated: elsewhere, approved: walletAddress })
})
