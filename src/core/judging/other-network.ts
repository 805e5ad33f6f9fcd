import type { NetworkName, TxId } from '../asset.ts'
import type { Dossier } from '../matching/divide.ts'
import { type ChainLeg, claimOf } from '../matching/fold.ts'
import type { Leg } from './matrix.ts'

/** Who places a leg on which network, where they do not all agree. */
export type OtherNetwork = {
  /** The transaction that the chain shows; else the one that the service names. */
  tx: TxId | null
  webhook: NetworkName | undefined
  api: NetworkName | undefined
  /** Undefined while no chain shows it. */
  chain: NetworkName | undefined
}

/**
 * Null where all that speak of the leg place it on one network. A transaction id is one of a family of networks, so
 * that it names the same wherever it is found.
 */
export function otherNetworkOf(dossier: Dossier, leg: Leg): OtherNetwork | null {
  const [webhook, api] = [dossier.webhook, dossier.api].map((claim) => claim?.[leg]?.network)
  const stated = [webhook, api].filter((network) => network !== undefined)
  const live = liveLegs(dossier, leg)
  // Of several deliveries, one that is elsewhere than stated.
  const shown = live.find(({ network }) => stated.some((one) => one !== network)) ?? live[0]
  if (new Set([...stated, ...(shown ? [shown.network] : [])]).size < 2) return null
  const tx = shown?.tx ?? claimOf(dossier)?.[leg]?.tx ?? null
  return { tx, webhook, api, chain: shown?.network }
}

function liveLegs({ deposit, settlements }: Dossier, leg: Leg): ChainLeg[] {
  const legs = leg === 'settlement' ? settlements : [deposit].filter((one) => one !== null)
  return legs.filter(({ state }) => state !== 'orphaned')
}
