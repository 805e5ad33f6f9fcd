import type { NetworkName, TxId } from '../asset.ts'
import type { ChainLeg, Story } from './fold.ts'

/** A transaction of a leg that the service names on another network than the one that shows it. */
export type OtherNetwork = {
  leg: 'deposit' | 'settlement'
  tx: TxId
  stated: NetworkName
  shown: NetworkName
}

/** One per leg at most. A transaction id is one of a family of networks, so that it names the same wherever it is found. */
export function otherNetworksOf(
  { api, webhook }: Story,
  { deposit, settlements }: { deposit: ChainLeg | null; settlements: readonly ChainLeg[] },
): OtherNetwork[] {
  const claims = [api, webhook].filter((claim) => claim !== null)
  const paid = claims.map((claim) => claim.deposit)
  const delivered = claims.flatMap(({ settlement }) => settlement ?? [])
  return [
    ...differing('deposit', paid, deposit === null ? [] : [deposit]).slice(0, 1),
    ...differing('settlement', delivered, settlements).slice(0, 1),
  ]
}

type Named = { network: NetworkName; tx: TxId | null }

function differing(
  leg: OtherNetwork['leg'],
  named: readonly Named[],
  shown: readonly ChainLeg[],
): OtherNetwork[] {
  return named.flatMap(({ tx, network }) =>
    shown
      .filter((one) => one.state !== 'orphaned' && one.tx === tx && one.network !== network)
      .map((one) => ({ leg, tx: one.tx, stated: network, shown: one.network })),
  )
}
