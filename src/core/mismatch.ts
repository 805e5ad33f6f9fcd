import type { Severity } from './mismatches/mismatch-entry.ts'
import { kindsOfMatters } from './mismatches/mismatches-of-matters.ts'
import { kindsOfSources } from './mismatches/mismatches-of-sources.ts'

export type { Severity }

/** Every kind of mismatch. Documentation, metrics and the command line read this one table. */
export const mismatchKinds = { ...kindsOfSources, ...kindsOfMatters }

export type MismatchKind = keyof typeof mismatchKinds

/** What is said of a payload that the mapping cannot read. */
export const unreadableKinds = ['unknown_event', 'unknown_status', 'schema_drift'] as const
export type UnreadableKind = (typeof unreadableKinds)[number]

/** Something wrong about one deposit or transfer. `detail` says what each side states. */
export type Mismatch = { kind: MismatchKind; detail: Readonly<Record<string, string>> }
