import type { Claim, Observation, ObservedChainTransfer, ServiceId } from '../../src/core/evidence.ts'
import { divide } from '../../src/core/matching/divide.ts'
import type { Amount } from '../../src/core/money.ts'
import { channelApproval, claim, delivery, txId } from './evidence.ts'

/** A record of one deposit: what it states to have delivered, and by which transactions. */
export function reported(
  name: string,
  [amount, tx, ...further]: readonly [number | null, string, ...string[]],
  changes: Partial<Pick<Claim, 'status' | 'source' | 'receivedAt'>> = {},
): Claim {
  const stated = amount === null ? null : (BigInt(amount) as Amount)
  return claim({
    serviceId: name as ServiceId,
    deposit: { tx: txId(`pay ${name}`) },
    settlement: {
      amount: stated,
      tx: txId(tx),
      ...(further.length > 0 && { furtherTxs: further.map(txId) }),
      fee: null,
    },
    ...changes,
  })
}

/** A transfer to the recipient. */
export function sent(
  tx: string,
  amount: number,
  changes: Partial<ObservedChainTransfer> = {},
): ObservedChainTransfer {
  return delivery({ tx: txId(tx), amount: BigInt(amount) as Amount, ...changes })
}

/** For each deposit: its id, and its parts in the deliveries as `transaction:index amount/whole`; then what is nobody's. */
export function sharesOf(observations: readonly Observation[]): string[] {
  const { evidences, unmatchedDeliveries } = divide(observations, [channelApproval])
  const all = evidences.map(({ serviceId, settlements, ambiguity }) => {
    const parts = settlements.map(
      ({ tx, index, amount, whole }) => `${nameOf(tx)}:${index} ${amount}/${whole}`,
    )
    return [serviceId, ...(ambiguity === null ? parts : ['ambiguous'])].join(' ')
  })
  return [...all, ...unmatchedDeliveries.map(({ tx, index }) => `stray ${nameOf(tx)}:${index}`)]
}

/** The text that a made-up transaction id was made of. */
export function nameOf(tx: string): string {
  return Buffer.from(tx.slice(2), 'hex').toString().replaceAll('\0', '')
}
