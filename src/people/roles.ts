/** `auditor` and `viewer` decide nothing. */
export const personRoles = [
  'administrator',
  'accountant',
  'operator',
  'approver',
  'auditor',
  'viewer',
] as const

export type PersonRole = (typeof personRoles)[number]

/** Who may request each kind of decision. A second person must be an approver. */
export const requesters = {
  person: 'administrator',
  journal: 'accountant',
  reversal: 'accountant',
  close: 'accountant',
  reopen: 'accountant',
  write_off: 'operator',
  match: 'operator',
  resolve: 'operator',
  addresses: 'operator',
  opening: 'accountant',
  restore: 'accountant',
  policy: 'administrator',
} as const satisfies Record<string, PersonRole>

export type DecisionKind = keyof typeof requesters

export const decisionKinds = Object.keys(requesters) as DecisionKind[]

/** Of tokens of the API. A token is a service account, and no person. */
export const tokenScopes = ['read_deposits', 'read_books', 'write_cases'] as const
export type TokenScope = (typeof tokenScopes)[number]
