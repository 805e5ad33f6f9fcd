import { expect, test } from 'vitest'
import type { Address } from '../../../src/core/asset.ts'
import type { ObservationGroup } from '../../../src/core/decide.ts'
import { claim, credit, payment, walletAddress, walletApproval, webhook } from '../../support/evidence.ts'
import { outcome } from '../../support/outcome.ts'

const credited = {
  owner: walletApproval.owner,
  deposit: { address: walletAddress },
  settlement: { network: 'stable-wallet', address: 'savings' as Address, asset: credit, tx: null },
} as Parameters<typeof claim>[0]
const walletPayment = payment({ to: walletAddress })

test.each<[string, ObservationGroup['observations'], string]>([
  [
    'a wallet is not credited',
    [
      webhook({ ...credited, status: 'confirmed' }),
      claim({ ...credited, status: 'confirmed' }),
      walletPayment,
    ],
    'confirmed settlement_missing',
  ],
  [
    'the API lists a wallet deposit and not its credit, of which a webhook tells',
    [
      webhook({ ...credited, status: 'confirmed' }),
      webhook(credited),
      claim({ ...credited, status: 'confirmed' }),
      walletPayment,
    ],
    'settling api_missing settlement_missing',
  ],
  [
    'the API says that what a webhook says is credited was given back',
    [webhook(credited), claim({ ...credited, status: 'refunded' }), walletPayment],
    'refunded status_conflict webhook_missing',
  ],
])('%s', (_what, observations, expected) => {
  expect(outcome(observations)).toBe(expected)
})
