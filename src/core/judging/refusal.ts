import type { Dossier } from '../matching/divide.ts'
import type { Mismatch } from '../mismatch.ts'
import type { Policy } from '../policy.ts'

/** Why the policy does not accept a final payment: it is then neither to be reported nor to be delivered. */
export function refusalOf({ deposit }: Dossier, { supported, minimum, line }: Policy): Mismatch | null {
  if (deposit?.state !== 'final') return null
  const amount = deposit.amount.toString()
  if (!supported) return { kind: 'unsupported_token', detail: { asset: deposit.asset, amount, policy: line } }
  if (minimum === null || deposit.amount >= minimum) return null
  return { kind: 'below_minimum', detail: { amount, minimum: minimum.toString(), policy: line } }
}
