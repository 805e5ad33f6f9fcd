import { formatAmount } from '../../src/core/money.ts'
import type { DepositRecord } from '../../src/service/deposits/record.ts'

/**
 * The words and shapes of a service that is not ours: other names, nested otherwise, amounts as JSON numbers in units,
 * times in milliseconds, networks and states in words of its own. It says what our service says, and no less.
 */

const networks: Readonly<Record<string, string>> = {
  mainnet: 'ETH',
  base: 'BASE',
  arbitrum: 'ARB',
  solana: 'SOL',
}

const phases: Readonly<Record<DepositRecord['status'], string>> = {
  detected: 'INCOMING',
  confirmed: 'FINAL',
  converting: 'SWAPPING',
  forwarding: 'PAYING_OUT',
  settled: 'DONE',
  credited: 'BOOKED',
  held: 'ON_HOLD',
  refunding: 'GOING_BACK',
  refunded: 'RETURNED',
  failed: 'FAILED',
}

const ownerClasses = { channel: 'CH', stable_wallet: 'SW' } as const

export function otherRecord(record: DepositRecord): object {
  const { source, destination, fee } = record
  return {
    reference: record.id,
    phase: phases[record.status],
    beneficiary: { class: ownerClasses[record.owner.type], key: record.owner.id },
    incoming: {
      chain: networks[source.network],
      wallet: source.address,
      token: source.contract,
      ticker: source.asset,
      qty: units(source.amount, source.decimals),
      hash: source.transaction,
      position: source.index,
      sender: source.sender,
      confirmations: 3,
    },
    outgoing: {
      chain: destination.network === null ? null : networks[destination.network],
      wallet: destination.address,
      token: destination.contract,
      ticker: destination.asset,
      qty: destination.amount === null ? null : units(destination.amount, destination.decimals),
      hash: destination.transaction ?? '',
      commission: fee === null ? null : units(fee.amount, destination.decimals),
    },
    opened_ms: Date.parse(record.created_at),
    changed_ms: Date.parse(record.updated_at),
  }
}

type OurEvent = { id: string; type: string; created_at: string; data: DepositRecord | object }

export function otherEvent(event: OurEvent): object {
  const isOfDeposit = 'source' in event.data
  return {
    notification: {
      uuid: event.id.replace('evt_', 'ntf-'),
      topic: isOfDeposit ? 'TRANSFER_CHANGED' : 'PING',
      sent_ms: Date.parse(event.created_at),
    },
    payload: isOfDeposit ? { transfer: otherRecord(event.data as DepositRecord) } : {},
  }
}

/** A JSON number with all its digits, whatever its size: no longer than it has to be. */
function units(base: string, decimals: number): unknown {
  return rawJSON(formatAmount(BigInt(base), decimals).replace(/\.?0+$/, ''))
}

const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => unknown }
