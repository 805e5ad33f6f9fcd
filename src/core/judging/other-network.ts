import type { NetworkName, TxId } from '../asset.ts'
import type { DepositEvidence } from '../matching/divide.ts'
import { type ChainLeg, claimOf } from '../matching/fold.ts'
import type { DepositLeg } from './matrix.ts'

/** The network on which each source places a leg, if they do not all agree. */
export type NetworkConflict = {
  /** The transaction that the chain shows, or else the one that the service names. */
  tx: TxId | null
  webhook: NetworkName | undefined
  api: NetworkName | undefined
  /** Undefined while no chain shows it. */
  chain: NetworkName | undefined
}

/**
 * Null if all sources that state the leg place it on one network. A transaction id is unique within a family of
 * networks, so it names the same transaction on any of them.
 */
export function otherNetworkOf(evidence: DepositEvidence, leg: DepositLeg): NetworkConflict | null {
  const [webhook, api] = [evidence.webhook, evidence.api].map((claim) => claim?.[leg]?.network)
  const stated = [webhook, api].filter((network) => network !== undefined)
  const live = liveLegs(evidence, leg)
  // Of several deliveries, prefer one on another network than stated.
  const shown = live.find(({ network }) => stated.some((one) => one !== network)) ?? live[0]
  if (new Set([...stated, ...(shown ? [shown.network] : [])]).size < 2) return null
  const tx = shown?.tx ?? claimOf(evidence)?.[leg]?.tx ?? null
  return { tx, webhook, api, chain: shown?.network }
}

function liveLegs({ deposit, settlements }: DepositEvidence, leg: DepositLeg): ChainLeg[] {
  const legs = leg === 'settlement' ? settlements : [deposit].filter((one) => one !== null)
  return legs.filter(({ state }) => state !== 'orphaned')
}
