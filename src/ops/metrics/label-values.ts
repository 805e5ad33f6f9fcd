/**
 * A set of values that is not known in advance. A process distinguishes at most `upTo` values of it, over all metrics.
 */
export type OpenSet = {
  set: string
  upTo: number
  /** The limit applies to each scrape, for gauges only: earlier values do not count. */
  isAnew?: true
}

/** Allowed values of a label: a closed list, or an open set. Other values become `other`. */
export type Values = readonly string[] | OpenSet

/** Values of open sets that are known in advance, by set. Other values cannot displace them. */
export type KnownLabelValues = Readonly<Record<string, readonly string[]>>

/** Returns the value to export. */
export type Admit = (values: Values, value: string) => string

export const networks: OpenSet = { set: 'network', upTo: 32 }
export const assets: OpenSet = { set: 'asset', upTo: 64 }
export const routes: OpenSet = { set: 'route', upTo: 64, isAnew: true }
export const nodes: OpenSet = { set: 'node', upTo: 32 }
export const rpcMethods: OpenSet = { set: 'method', upTo: 32 }

/** Replaces every value that is not distinguished. */
export const other = 'other'

/** A longer text is not a name. */
const lengthMax = 120

/** The first values of an open set keep their place, and their series, as long as the process runs. */
export function createAdmission(known: KnownLabelValues): Admit {
  const sets = new Map<string, Set<string>>()
  return (values, given) => {
    const value = given.toWellFormed()
    if (!('set' in values)) return values.includes(value) ? value : other
    const admitted = sets.get(values.set) ?? new Set(['', ...(known[values.set] ?? [])])
    sets.set(values.set, admitted)
    if (admitted.has(value)) return value
    if (admitted.size > values.upTo || value.length > lengthMax) return other
    admitted.add(value)
    return value
  }
}

/** Every combination of the values that are known in advance; empty if a label has no such value. */
export function combinations(
  labels: Readonly<Record<string, Values>>,
  known: KnownLabelValues,
): Record<string, string>[] {
  let found: Record<string, string>[] = [{}]
  for (const [label, values] of Object.entries(labels)) {
    const all = 'set' in values ? (known[values.set] ?? []) : values
    found = found.flatMap((one) => all.map((value) => ({ ...one, [label]: value })))
  }
  return found
}
