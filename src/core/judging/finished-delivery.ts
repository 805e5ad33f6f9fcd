import type { Dossier } from '../matching/divide.ts'
import type { Policy } from '../policy.ts'
import { deliveredLegs, total } from './matrix.ts'
import { isTolerated } from './tolerance.ts'

/** The delivery as the service states it, once it calls the deposit settled; by its API where that does. */
export function finishedDelivery({ api, webhook }: Pick<Dossier, 'api' | 'webhook'>) {
  return [api, webhook].find((one) => one?.status === 'settled')?.settlement ?? null
}

/**
 * What a finished delivery lacks of what the API states, below zero where it is more, in base units of the delivered
 * asset; 0 where the policy does not accept the difference. Nothing is booked by what a webhook states.
 */
export function toleratedLack(dossier: Dossier, policy: Policy): bigint {
  const legs = deliveredLegs(dossier)
  const { amount, asset } = finishedDelivery({ api: dossier.api, webhook: null }) ?? {}
  if (!amount || legs.length === 0 || legs.some((leg) => leg.asset !== asset)) return 0n
  return isTolerated(total(legs), amount, policy) ? amount - total(legs) : 0n
}
