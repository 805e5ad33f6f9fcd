import type { DepositEvidence } from '../matching/divide.ts'
import type { Mismatch } from '../mismatch.ts'
import type { Policy } from '../policy.ts'

/** Why the policy refuses a final payment. A refused payment need not be reported or delivered. */
export function refusalOf(
  { deposit }: DepositEvidence,
  { supported, minimum, line }: Policy,
): Mismatch | null {
  if (deposit?.state !== 'final') return null
  const paid = { asset: deposit.asset, amount: deposit.amount.toString() }
  if (!supported) return { kind: 'unsupported_token', detail: { ...paid, policy: line }, loss: null }
  if (minimum === null || deposit.amount >= minimum) return null
  const detail = { ...paid, minimum: minimum.toString(), policy: line }
  return { kind: 'below_minimum', detail, loss: null }
}
