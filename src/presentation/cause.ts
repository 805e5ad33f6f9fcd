import type { CaseLoss, OpenCause } from '../core/cause.ts'
import { mismatchKinds } from '../core/mismatch.ts'
import { type KindEntry, severities } from '../core/mismatches/kind-entry.ts'
import { formatAmount } from '../core/money.ts'
import { decimalText } from './mismatch-sentence.ts'

/** First the causes that need a person, then by severity and age. */
export function firstCauses(causes: readonly OpenCause[]): OpenCause[] {
  return causes.toSorted(
    (one, other) =>
      Number(other.callsForPeople) - Number(one.callsForPeople) ||
      gravity(one) - gravity(other) ||
      one.since.getTime() - other.since.getTime(),
  )
}

function gravity({ severity }: OpenCause): number {
  return severities.findIndex((one) => one === severity)
}

/** One for each asset. */
export function lossLines({ kind, losses }: Pick<OpenCause, 'kind' | 'losses'>): string[] {
  return entryOf(kind)?.loss === 'unmeasured' ? ['not measured'] : losses.map(lossText)
}

function lossText({ asset, network, symbol, decimals, amount }: CaseLoss): string {
  if (amount === null || decimals === null) return `${amount ?? '?'} base units of ${asset}`
  return `${decimalText(formatAmount(amount, decimals))} ${symbol} on ${network}`
}

/** The first step; null for a kind of another version. */
export function firstStepOf(kind: string): string | null {
  return entryOf(kind)?.next ?? null
}

/** The database may hold a kind of an older version. */
function entryOf(kind: string): KindEntry | null {
  const entries: Readonly<Record<string, KindEntry>> = mismatchKinds
  return entries[kind] ?? null
}

const minuteMs = 60_000

type CauseChoices = { services: readonly string[]; networks: readonly string[] }

/** Of the console's list, for all mismatches of the cause, also snoozed ones. A name that is no choice is no filter. */
export function causeFilters(
  {
    kind,
    service,
    network,
    since,
    until,
  }: Pick<OpenCause, 'kind' | 'service' | 'network' | 'since' | 'until'>,
  { services, networks }: CauseChoices,
): Record<string, string | undefined> {
  return {
    kind,
    service: among(services, service),
    network: among(networks, network),
    status: 'snoozed',
    since: minuteOf(since.getTime()),
    until: minuteOf(until.getTime() + minuteMs),
  }
}

function among(names: readonly string[], name: string): string | undefined {
  if (name === '') return 'none'
  return names.includes(name) ? name : undefined
}

function minuteOf(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16)}Z`
}
