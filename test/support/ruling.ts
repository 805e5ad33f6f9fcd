import { type Ruling, type RulingVerdict, type ServiceId, type Sighting } from '../../src/core/evidence.ts'
import { at } from './evidence.ts'

/** That a transfer is, or is not, one of a deposit's. */
export function ruling(
  kind: Extract<RulingVerdict, { serviceId: ServiceId }>['kind'],
  { role, network, tx, index, to }: Sighting,
  changes: Partial<Ruling> & { serviceId?: ServiceId } = {},
): Ruling {
  const { serviceId = 'dep_1' as ServiceId, ...rest } = changes
  return {
    kind: 'ruling',
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
