import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { CreditVerdict } from '../../src/core/credit-safety.ts'
import { type DecidedDeposit, decide, type LegFacts } from '../../src/core/decide.ts'
import type { Observation } from '../../src/core/evidence.ts'
import type { Approval } from '../../src/core/matching/divide.ts'
import { mismatchKinds } from '../../src/core/mismatch.ts'
import type { Amount } from '../../src/core/money.ts'
import type { RequiredCell } from '../../src/core/policy.ts'
import { groupOf, runs } from '../support/any-evidence.ts'
import { anyWorld } from '../support/any-world.ts'
import {
  at,
  channelApproval,
  claim,
  elsewhere,
  liquidity,
  payment,
  policy,
  walletApproval,
  webhook,
} from '../support/evidence.ts'
import { backApproval } from '../support/made-up-routes.ts'
import { decideAtOnce } from '../support/model-books.ts'

const rules = { policy, routes: [], senders: new Set([`arbitrum/${liquidity}`]) }
const early = at(6)

type Circumstances = { approval?: Partial<Approval>; creditRequires?: readonly RequiredCell[]; now?: Date }

function creditOf(
  observations: readonly Observation[],
  { approval, creditRequires = [], now = early }: Circumstances = {},
): CreditVerdict | undefined {
  const group = {
    ...groupOf(observations),
    ...(approval && { approvals: [{ ...channelApproval, ...approval }] }),
  }
  const own = { ...rules, policy: { ...policy, creditRequires } }
  return decide(group, own, now).deposits[0]?.credit
}

const observed = (one: typeof webhook) => one({ status: 'observed' })

test.each([
  ['webhook', observed(webhook)],
  ['api', observed(claim)],
])(
  'a final payment with one agreeing claim, by %s, is safe as the amount that the books owe',
  (source, stated) => {
    expect(creditOf([payment(), stated])).toEqual({
      kind: 'safe',
      journal: expect.stringMatching(/^deposit\/base\/.*#1$/),
      account: 'liabilities:deposits:channel:shop',
      asset: payment().asset,
      amount: 100_000_000n,
      height: 10n,
      blockHash: '0xb10c',
      finalAt: at(2),
      reason: `final on base at height 10; these agree: ${source}, chain`,
    })
  },
)

const other = { amount: 99n as Amount }
const unsafe: [what: string, obstacles: string[], all: Observation[], Circumstances?][] = [
  ['no payment is on the chain', ['not_final', 'sources', 'stopped', 'not_booked'], [observed(webhook)]],
  [
    'the payment is not final',
    ['not_final', 'stopped', 'not_booked'],
    [payment({ stage: 'seen' }), webhook({ status: 'observed' })],
  ],
  ['only the chain shows it', ['sources', 'not_booked'], [payment()]],
  [
    'the address is no longer valid',
    ['address', 'not_booked'],
    [payment(), observed(webhook)],
    { approval: { endsAt: at(-1) } },
  ],
  [
    'the payment went to an address that is not of ours',
    ['address', 'not_booked'],
    [
      payment({ to: elsewhere }),
      webhook({ status: 'observed', owner: null, deposit: { address: elsewhere } }),
    ],
  ],
  [
    'the record states another amount than the webhook and the chain',
    ['amounts', 'mismatch'],
    [payment(), observed(webhook), claim({ status: 'observed', deposit: other })],
  ],
  [
    'the only claim states another amount',
    ['amounts', 'sources', 'mismatch'],
    [payment(), webhook({ status: 'observed', deposit: other })],
  ],
  [
    'the policy requires a record',
    ['sources'],
    [payment(), observed(webhook)],
    { creditRequires: ['deposit.api'] },
  ],
  ['the service holds it', ['stopped'], [payment(), webhook({ status: 'held' })]],
  ['it was refunded', ['stopped'], [payment(), claim({ status: 'refunded' })]],
  [
    'a severe mismatch is open: the delivery goes elsewhere',
    ['mismatch'],
    [payment(), claim({ status: 'settling', settlement: { address: elsewhere } })],
  ],
]

test.each(unsafe)('not safe: %s', (...[, obstacles, observations, circumstances]) => {
  expect(creditOf(observations, circumstances)).toEqual({ kind: 'unsafe', obstacles })
})

test('the policy may require the delivery, too', () => {
  const both = [payment(), observed(webhook)]
  expect(creditOf(both, { creditRequires: ['deposit.webhook'] })).toMatchObject({ kind: 'safe' })
  expect(creditOf(both, { creditRequires: ['settlement.chain'] })).toMatchObject({ obstacles: ['sources'] })
})

/** By the words of the rule, without its code: what makes it wrong that the deposit is safe. */
function faultsOf({ evidence, verdict, payment: paid, credit }: DecidedDeposit): string[] {
  if (credit.kind !== 'safe') return []
  const { asset, amount } = credit
  const claims = [evidence.webhook, evidence.api].filter((one) => one !== null)
  const faults = {
    notFinal: evidence.deposit?.state !== 'final',
    isOther: claims.some((one) => textOf(one.deposit) !== textOf(paid)),
    unclaimed: claims.length === 0,
    notOurs: evidence.approval === null || textOf({ ...evidence.approval, asset, amount }) !== textOf(paid),
    isSevere: verdict.mismatches.some(({ kind }) => mismatchKinds[kind].severity === 'severe'),
  }
  return Object.entries(faults).flatMap(([fault, applies]) => (applies ? [fault] : []))
}

function textOf(leg: Pick<LegFacts, 'network' | 'address' | 'asset' | 'amount'> | null): string {
  return leg === null ? '' : [leg.network, leg.address, leg.asset, leg.amount].join()
}

test('whatever is told, what is safe is final on the chain, ours, agreed upon and owed', () => {
  const approvals = [channelApproval, walletApproval, backApproval]
  let found = 0
  fc.assert(
    fc.property(anyWorld, fc.integer({ min: 0, max: 700 }), (world, minutes) => {
      const decisions = decideAtOnce(world, approvals, { rules, now: at(minutes) })
      const safe = decisions
        .flatMap(({ deposits }) => deposits)
        .filter(({ credit }) => credit.kind === 'safe')
      found += safe.length
      expect(safe.flatMap(faultsOf)).toEqual([])
    }),
    runs,
  )
  expect(found).toBeGreaterThan(0)
})
