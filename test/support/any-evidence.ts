import * as fc from 'fast-check'
import type { Address, AssetKey, NetworkName } from '../../src/core/asset.ts'
import type { ObservationGroup } from '../../src/core/decide.ts'
import type { Claim, Observation, ObservedChainTransfer, ServiceId } from '../../src/core/evidence.ts'
import { stableWalletNetwork } from '../../src/core/evidence.ts'
import type { Amount } from '../../src/core/money.ts'
import type { Journal } from '../../src/core/posting.ts'
import { type WithdrawalClaim, withdrawalStatuses } from '../../src/core/withdrawal-claim.ts'
import {
  at,
  channelAddress,
  channelApproval,
  claim,
  credit,
  delivery,
  elsewhere,
  failedDelivery,
  failure,
  payment,
  recipient,
  txId,
  usdcOnArbitrum,
  usdcOnBase,
  usdtOnBase,
  walletAddress,
  walletApproval,
} from './evidence.ts'

/** Small sets of values, so that unrelated observations meet in the same deposits again and again. */
const amount = fc.constantFrom(0n, 1n, 5n, 99_900_000n, 100_000_000n, 2n ** 255n).map((one) => one as Amount)
const time = fc.integer({ min: 0, max: 40 }).map(at)
const payAddress = fc.constantFrom(channelAddress, walletAddress, elsewhere)
const payTx = fc.constantFrom(txId('pay'), txId('pay2'))
const forwardTx = fc.constantFrom(txId('forward'), txId('forward2'))
const index = fc.constantFrom('0', '1')

const blocks = fc.constantFrom(
  { height: 10n, blockHash: '0xb10c' },
  { height: 11n, blockHash: '0xb10d' },
  { height: 11n, blockHash: '0xb10e' },
)

/** What a transfer is, follows from where it stands: readers of one block agree. */
function facts(text: string): { asset: AssetKey; amount: Amount } {
  const sum = Buffer.from(text).reduce((total, byte) => total + byte, 0)
  const choices = [100_000_000n, 5n, 0n]
  return {
    asset: sum % 4 === 0 ? usdtOnBase : usdcOnBase,
    amount: (choices[sum % choices.length] ?? 1n) as Amount,
  }
}

const anyChainTransfer = fc
  .record({
    stage: fc.constantFrom<ObservedChainTransfer['stage']>('seen', 'final', 'final', 'orphaned'),
    isDeposit: fc.boolean(),
    pay: payTx,
    forward: forwardTx,
    to: payAddress,
    index,
    block: blocks,
    epoch: fc.integer({ min: 0, max: 1 }),
    receivedAt: time,
  })
  .map(({ stage, isDeposit, pay, forward, to, block, receivedAt, ...place }): ObservedChainTransfer => {
    const rest = { stage, ...block, ...place, receivedAt }
    const reported = facts(isDeposit ? `${place.index}${to}${pay}` : `${place.index}${forward}`)
    return isDeposit
      ? payment({ ...rest, tx: pay, to, index: `${place.index}${to.slice(-1)}`, ...reported })
      : delivery({ ...rest, tx: forward, to: recipient, amount: reported.amount, asset: usdcOnArbitrum })
  })

const anySettlement = fc.oneof(
  fc.record({
    network: fc.constantFrom('arbitrum' as NetworkName, 'base' as NetworkName),
    address: fc.constantFrom(recipient, elsewhere),
    asset: fc.constantFrom(usdcOnArbitrum, usdcOnBase),
    tx: fc.option(forwardTx),
  }),
  fc.record({
    network: fc.constant(stableWalletNetwork),
    address: fc.constantFrom('savings' as Address, 'other' as Address),
    asset: fc.constant(credit),
    tx: fc.constant(null),
  }),
)

const anyClaim = fc
  .record({
    source: fc.constantFrom<Claim['source']>('webhook', 'api'),
    serviceId: fc.constantFrom('dep_1' as ServiceId, 'dep_2' as ServiceId),
    status: fc.constantFrom<Claim['status']>(
      'observed',
      'confirmed',
      'settling',
      'settled',
      'settled',
      'held',
      'refunded',
      'failed',
    ),
    owner: fc.constantFrom(channelApproval.owner, walletApproval.owner),
    deposit: fc.record({
      address: payAddress,
      asset: fc.constantFrom(usdcOnBase, usdtOnBase),
      amount,
      tx: fc.option(payTx),
      index: fc.option(index),
    }),
    settlement: anySettlement,
    settled: fc.record({ amount: fc.option(amount), fee: fc.option(amount) }),
    occurredAt: fc.option(time),
    receivedAt: time,
  })
  .map(({ settlement, settled, occurredAt, ...rest }) =>
    claim({
      ...rest,
      settlement: { ...settlement, ...settled },
      ...(occurredAt === null ? { occurredAt: rest.receivedAt, isUndated: true } : { occurredAt }),
    }),
  )

const anyFailure = fc
  .record({ isDeposit: fc.boolean(), pay: payTx, forward: forwardTx, to: payAddress, receivedAt: time })
  .map(({ isDeposit, pay, forward, to, receivedAt }) =>
    isDeposit ? failure({ tx: pay, to, receivedAt }) : failedDelivery({ tx: forward, receivedAt }),
  )

const anyWithdrawal = fc
  .record({
    withdrawalId: fc.constantFrom('w-1', 'w-2'),
    status: fc.constantFrom(...withdrawalStatuses),
    tx: fc.option(forwardTx),
    paid: fc.constantFrom(5n, 100_000_000n).map((one) => one as Amount),
    occurredAt: time,
    receivedAt: time,
  })
  .map(
    ({ paid, ...rest }): WithdrawalClaim => ({
      kind: 'withdrawal',
      wallet: walletApproval.owner.id,
      asset: credit,
      amount: paid,
      network: 'arbitrum' as NetworkName,
      to: recipient,
      payout: { asset: usdcOnArbitrum, amount: paid },
      ...rest,
    }),
  )

/** Evidence of a few deposits, true, false, contradicting and repeated. */
export const anyEvidence: fc.Arbitrary<Observation[]> = fc.array(
  fc.oneof(
    { arbitrary: anyChainTransfer, weight: 4 },
    { arbitrary: anyClaim, weight: 4 },
    { arbitrary: anyFailure, weight: 1 },
    { arbitrary: anyWithdrawal, weight: 1 },
  ),
  { minLength: 1, maxLength: 10 },
)

export function groupOf(
  observations: readonly Observation[],
  booked: readonly Journal[] = [],
): ObservationGroup {
  return { observations, approvals: [channelApproval, walletApproval], deposits: [], journals: booked }
}

/** The seed is printed where a property fails; this repeats that run. */
export const runs = { numRuns: Number(process.env.RUNS ?? 500) }
