import type { AssetKey } from './asset.ts'
import { coverageKinds, identityKinds, presenceKinds, valueKinds } from './mismatches/evidence-kinds.ts'
import type { Severity } from './mismatches/kind-entry.ts'
import { chainKinds, policyKinds, stateKinds, systemKinds } from './mismatches/lifecycle-and-system-kinds.ts'
import type { Amount } from './money.ts'

export type { Severity }

/** Documentation, metrics and the command line read this one table. */
export const mismatchKinds = {
  ...presenceKinds,
  ...coverageKinds,
  ...valueKinds,
  ...identityKinds,
  ...stateKinds,
  ...chainKinds,
  ...policyKinds,
  ...systemKinds,
}

export type MismatchKind = keyof typeof mismatchKinds

export const unreadableKinds = ['unknown_event', 'unknown_status', 'schema_drift'] as const
export type UnreadableKind = (typeof unreadableKinds)[number]

/**
 * `whole` is what the amount is a part of, such as the delivery owed. In base units of one asset, which need not be the
 * paid one.
 */
export type Loss = { asset: AssetKey; amount: Amount; whole: Amount }

/**
 * `detail` holds what each side states, in base units of `asset`. `loss` is null if nothing is lost or it cannot be
 * measured; the table of kinds says which.
 */
export type Mismatch = {
  kind: MismatchKind
  detail: Readonly<Record<string, string>>
  loss: Loss | null
}

/**
 * If it does, resolving it takes a signed decision. A severe mismatch without a measured loss may cost any amount. The
 * database has the same rule, `may_be_lost`.
 * @param loss null if there is none or it cannot be measured
 */
export function mayBeLost({ severity, loss }: { severity: string; loss: unknown }): boolean {
  return loss !== null || severity === 'severe'
}

/** Null if there is nothing to lose. */
export function lossOf(asset: AssetKey, amount: bigint, whole: bigint = amount): Loss | null {
  if (amount <= 0n) return null
  return { asset, amount: amount as Amount, whole: (whole > amount ? whole : amount) as Amount }
}
