export type Severity = 'info' | 'warning' | 'severe'

/**
 * The party whose statement or work is wrong. `webhook` or `api` if only that source of the service is wrong;
 * `settings` for the mapping profile, the policy and the address book; `unknown` if the evidence does not show it.
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
 * What ends a mismatch of a kind: further evidence; `bin/depositd replay` once the payload can be read; or only a
 * person, because no further evidence can correct it.
 */
export type ResolutionMethod = 'evidence' | 'replay' | 'person'

/**
 * Whether a mismatch of a kind carries a loss: an amount of an asset; never one; or one that cannot be measured, and
 * that therefore ranks before all that can.
 */
export type LossRule = 'measured' | 'none' | 'unmeasured'

/** How one kind of mismatch is treated and explained. */
export type KindEntry = {
  severity: Severity
  family: 'presence' | 'value' | 'identity' | 'state' | 'chain' | 'coverage' | 'policy' | 'system'
  off: ResponsibleParty
  /** `byWaiting`: what ends it may only be late. For the other kinds, a person has to fix something. */
  ends: { by: ResolutionMethod; byWaiting: boolean }
  /** Within how many hours of its opening a person should act. */
  actWithinHours: number
  /** The possible loss, and the reason for it, for people. */
  loss: { rule: LossRule; means: string }
  /** Its meaning, for people. */
  means: string
  /** What to do next. */
  next: string
}
