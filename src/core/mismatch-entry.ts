export type Severity = 'info' | 'warning' | 'severe'

/** How one kind of mismatch is treated and explained. */
export type KindEntry = {
  severity: Severity
  family: 'presence' | 'value' | 'identity' | 'state' | 'chain' | 'policy' | 'system'
  /** What it says, for people. */
  means: string
  /** What to do next. */
  next: string
}
