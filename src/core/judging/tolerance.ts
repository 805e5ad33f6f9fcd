import type { Policy } from '../policy.ts'

/**
 * True if a delivery differs from the stated amount by no more than the policy accepts: the larger of its two bounds.
 */
export function isTolerated(
  delivered: bigint,
  stated: bigint,
  { tolerance }: Pick<Policy, 'tolerance'>,
): boolean {
  const difference = delivered < stated ? stated - delivered : delivered - stated
  return difference <= tolerance.amount || difference * 10_000n <= stated * BigInt(tolerance.bps)
}
