/** What nobody can list beforehand; so many values of a set are told apart in one process, whichever metric has them. */
export type OpenSet = {
  set: string
  upTo: number
  /** They are told apart in each answer for itself, by gauges alone: what was there before keeps no place. */
  isAnew?: true
}

/** What a label may say: one of a closed list, or of an open set. All else is `other`. */
export type Values = readonly string[] | OpenSet

/** Values of open sets that are known beforehand, by set. Others cannot crowd them out. */
export type KnownLabelValues = Readonly<Record<string, readonly string[]>>

/** The value under which something is shown. */
export type Admit = (values: Values, value: string) => string

export const networks: OpenSet = { set: 'network', upTo: 32 }
export const assets: OpenSet = { set: 'asset', upTo: 64 }
export const routes: OpenSet = { set: 'route', upTo: 64, isAnew: true }
export const nodes: OpenSet = { set: 'node', upTo: 32 }
export const rpcMethods: OpenSet = { set: 'method', upTo: 32 }

/** Stands for every value that is not told apart. */
export const other = 'other'

/** Longer ones are no names. */
const lengthMax = 120

/** The first values that come to an open set stay in it as long as the process runs, and so do their series. */
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

/** Every combination of the values that are known beforehand; none where a label has no such value. */
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
