import type { ClaimStatus } from './evidence.ts'

/** How long each thing may take before its absence is a mismatch, in milliseconds. */
export type Policy = {
  /** From the first other evidence of a step to its webhook. */
  webhookWithinMs: number
  /** The statuses for each of which the service is to send a webhook. */
  webhookStatuses: readonly ClaimStatus[]
  /** From the first other evidence of a step to the API's record of it. */
  apiWithinMs: number
  /** From a claim to the payment on its chain. Longer than the network takes to become final. */
  chainWithinMs: number
  /** From a final payment to the service's first word of it. */
  reportWithinMs: number
  /** From a final payment to its final delivery. */
  settlementWithinMs: number
}
