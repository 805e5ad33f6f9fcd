export type Severity = 'info' | 'warning' | 'severe'

/**
 * Whose word or work is not as it should be. `webhook` and `api` are one of the service's voices, where only that one
 * is off; `settings` are the mapping profile, the policy and the address book. `unknown` where the evidence does not tell.
 */
export type ResponsibleParty =
  | 'webhook'
  | 'api'
  | 'service'
  | 'payer'
  | 'chain'
  | 'settings'
  | 'books'
  | 'unknown'

/**
 * What ends a mismatch of a kind: further evidence; `bin/depositd replay` once the payload can be read; or a person alone,
 * since nothing that arrives can put it right.
 */
export type ResolutionMethod = 'evidence' | 'replay' | 'person'

/**
 * Whether a mismatch of a kind carries a loss: an amount of an asset; never one; or one that cannot be measured, and so
 * is ranked before all that can.
 */
export type LossRule = 'measured' | 'none' | 'unmeasured'

/** How one kind of mismatch is treated and explained. */
export type KindEntry = {
  severity: Severity
  family: 'presence' | 'value' | 'identity' | 'state' | 'chain' | 'coverage' | 'policy' | 'system'
  off: ResponsibleParty
  /** `byWaiting`: what ends it may only be late. Of the others, somebody has to mend something. */
  ends: { by: ResolutionMethod; byWaiting: boolean }
  /** Within how many hours of its opening somebody should have acted. */
  actWithinHours: number
  /** What may be lost by it, and for people why that is so. */
  loss: { rule: LossRule; means: string }
  /** What it says, for people. */
  means: string
  /** What to do next. */
  next: string
}
