import { expect, test } from 'vitest'
import { decide, type ObservationGroup } from '../../../src/core/decide.ts'
import type { Approval } from '../../../src/core/matching/divide.ts'
import {
  arbitrum,
  channelAddress,
  channelApproval,
  claim,
  delivery,
  elsewhere,
  payment,
  policy,
  usdcOnArbitrum,
  walletApproval,
  webhook,
} from '../../support/evidence.ts'
import { decided, late, outcome } from '../../support/outcome.ts'

test.each<[string, ObservationGroup['observations'], string]>([
  [
    'an owner of ours is said to have an address of another owner of ours',
    [webhook({ owner: walletApproval.owner }), claim({ owner: walletApproval.owner }), payment(), delivery()],
    'settled address_changed',
  ],
  [
    'an owner of ours is said to have an address on a network where the book has none',
    [
      webhook({ deposit: { network: arbitrum, asset: usdcOnArbitrum, address: elsewhere } }),
      claim({ deposit: { network: arbitrum, asset: usdcOnArbitrum, address: elsewhere } }),
    ],
    'observed unknown_address chain_missing',
  ],
])('%s', (_what, observations, expected) => {
  expect(outcome(observations)).toBe(expected)
})

test('an owner of ours that has no address on a network is said to have that of another owner of ours', () => {
  const far: Approval = {
    ...channelApproval,
    network: arbitrum,
    address: elsewhere,
    owner: { kind: 'channel', id: 'far' },
  }
  const observations = [webhook({ owner: far.owner }), claim({ owner: far.owner }), payment(), delivery()]
  const group = { observations, approvals: [channelApproval, far], deposits: [], journals: [] }
  const { deposits } = decide(group, { policy, routes: [], senders: new Set() }, late)
  expect(deposits).toMatchObject([
    {
      verdict: {
        state: 'settled',
        mismatches: [
          {
            kind: 'address_changed',
            detail: { owner: 'channel/far', network: 'base', approved: 'none', address: channelAddress },
          },
        ],
      },
    },
  ])
})

test('a final payment to such an address is held in suspense', () => {
  const { deposits } = decided([claim({ deposit: { address: elsewhere } }), payment({ to: elsewhere })])
  const credits = deposits.flatMap(({ journals }) => journals.flatMap(({ transfers }) => transfers))
  expect(credits.map(({ credit }) => credit)).toEqual(['liabilities:suspense'])
})
