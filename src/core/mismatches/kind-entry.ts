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

/** What ends a mismatch: further evidence; a replay, once the payload can be read; or only a person. */
export type ResolutionMethod = 'evidence' | 'replay' | 'person'

/** A loss that cannot be measured ranks before all measured losses. */
export type LossRule = 'measured' | 'none' | 'unmeasured'

/** How one kind of mismatch is treated and explained. */
export type KindEntry = {
  severity: Severity
  family: 'presence' | 'value' | 'identity' | 'state' | 'chain' | 'coverage' | 'policy' | 'system'
  responsible: ResponsibleParty
  /** `byWaiting`: the missing evidence may only be late. For other kinds, a person has to fix something. */
  ends: { by: ResolutionMethod; byWaiting: boolean }
  /** Within how many hours of its opening a person should act. */
  actWithinHours: number
  loss: LossRule
  /** The loss, for people: how it is measured, or why there is none. */
  lossMeans: string
  /** The meaning of the mismatch, for people. */
  means: string
  /** What to do next. */
  next: string
}
