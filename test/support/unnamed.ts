import type { ServiceId } from '../../src/core/evidence.ts'
import type { OpenDeposit, UnnamedTransfer } from '../../src/core/matching/propose.ts'
import type { Amount } from '../../src/core/money.ts'
import {
  arbitrum,
  at,
  base,
  channelAddress,
  channelApproval,
  liquidity,
  recipient,
  txId,
  usdcOnArbitrum,
  usdcOnBase,
} from './evidence.ts'

export const amount = (units: number) => BigInt(units) as Amount
export const payment: UnnamedTransfer = {
  role: 'deposit',
  network: base,
  tx: txId('pay'),
  index: '0',
  asset: usdcOnBase,
  amount: amount(100_000_000),
  from: null,
  to: channelAddress,
  at: at(0),
}

/** The service names no transaction. */
export const unpaid: OpenDeposit = {
  serviceId: 'dep_1' as ServiceId,
  owner: channelApproval.owner,
  network: base,
  address: channelAddress,
  asset: usdcOnBase,
  amount: amount(100_000_000),
  tx: null,
  since: at(3),
  finalAt: null,
  paid: { network: base, asset: usdcOnBase, amount: amount(100_000_000) },
}

export const delivery: UnnamedTransfer = {
  ...payment,
  role: 'recipient',
  network: arbitrum,
  tx: txId('forward'),
  asset: usdcOnArbitrum,
  amount: amount(99_900_000),
  from: liquidity,
  to: recipient,
  at: at(5),
}

export const undelivered: OpenDeposit = {
  ...unpaid,
  network: arbitrum,
  address: recipient,
  asset: usdcOnArbitrum,
  amount: amount(99_900_000),
  since: at(0),
  finalAt: at(2),
}
