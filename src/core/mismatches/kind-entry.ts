/** The highest first. */
export const severities = ['severe', 'warning', 'info'] as const
export type Severity = (typeof severities)[number]

/**
 * Whose statement or work is wrong: `webhook` or `api` if only that source of the service; `settings` for the mapping
 * profile, the policy and the address book; `unknown` if the evidence does not show it.
 */
export const responsibleParties = [
  'webhook',
  'api',
  'service',
  'payer',
  'chain',
  'settings',
  'books',
  'unknown',
] as const
export type ResponsibleParty = (typeof responsibleParties)[number]

/** Further evidence; a replay, once the payload can be read; or only a person. */
export type ResolutionMethod = 'evidence' | 'replay' | 'person'

/** A loss that cannot be measured ranks before all measured losses. */
export type LossRule = 'measured' | 'none' | 'unmeasured'

export type KindEntry = {
  severity: Severity
  family: 'presence' | 'value' | 'identity' | 'state' | 'chain' | 'coverage' | 'policy' | 'system'
  responsible: ResponsibleParty
  endsBy: ResolutionMethod
  /** The evidence may only be late. Otherwise a person has to fix something. */
  mayBeLate: boolean
  actWithinHours: number
  loss: LossRule
  /** How it is measured, or why there is none. */
  lossMeans: string
  means: string
  next: string
}

const usual = { responsible: 'service', endsBy: 'evidence', mayBeLate: false } as const

const usualOf: Record<Severity, Pick<KindEntry, 'actWithinHours' | 'loss'>> = {
  severe: { actWithinHours: 8, loss: 'measured' },
  warning: { actWithinHours: 24, loss: 'none' },
  info: { actWithinHours: 168, loss: 'none' },
}

type StatedEntry = Pick<KindEntry, 'severity' | 'lossMeans' | 'means' | 'next'> & Partial<KindEntry>

/** An entry states what differs from what is usual for its severity. */
export function kindsOf<Kind extends string>(
  family: KindEntry['family'],
  stated: Record<Kind, StatedEntry>,
): Record<Kind, KindEntry> {
  const entries = Object.entries<StatedEntry>(stated).map(([kind, entry]) => [
    kind,
    { ...usual, ...usualOf[entry.severity], ...entry, family },
  ])
  return Object.fromEntries(entries) as Record<Kind, KindEntry>
}
