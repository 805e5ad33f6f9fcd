import {
  type DecisionOutcome,
  type ObservedChainTransfer,
  type ServiceId,
  type TransferDecision,
} from '../../src/core/evidence.ts'
import { at } from './evidence.ts'

/** That a transfer is, or is not, one of a deposit's. */
export function decision(
  kind: Extract<DecisionOutcome, { serviceId: ServiceId }>['kind'],
  { role, network, tx, index, to }: ObservedChainTransfer,
  changes: Partial<TransferDecision> & { serviceId?: ServiceId } = {},
): TransferDecision {
  const { serviceId = 'dep_1' as ServiceId, ...rest } = changes
  return {
    kind: 'decision',
    id: 'ruling 1',
    role,
    network,
    tx,
    index,
    to,
    verdict: { kind, serviceId },
    by: 'erin',
    approvedBy: null,
    reason: 'the payer said so',
    receivedAt: at(60),
    ...rest,
  }
}
