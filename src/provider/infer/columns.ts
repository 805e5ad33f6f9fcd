import { digitsOf } from '../lossless-json.ts'

/** One value that is no object and no list, as text; numbers with the digits as they were sent. */
export type Leaf = { kind: 'text' | 'number' | 'boolean' | 'null'; text: string }

/** What stands at one path, over all samples: null where a sample has nothing there. */
export type SampleColumn = { path: string; leaves: readonly (Leaf | null)[] }

/** Longer lists are read up to here: what is told of a deposit stands in the first places. */
const placesMax = 4
const depthMax = 12
/** Captures may come from strangers; no service has so many fields. */
const columnsMax = 400
const objectsMax = 40
/** What else is called is no path of a profile, and may be made to be looked at on a terminal. */
const nameForm = /^[^.\s\p{C}]{1,100}$/u

/**
 * Every path of the samples, in the order in which they are met, with what each sample has there.
 * @param samples as parsed without loss of digits.
 */
export function columnsOf(samples: readonly unknown[]): SampleColumn[] {
  const columns = new Map<string, (Leaf | null)[]>()
  for (const [place, sample] of samples.entries()) {
    for (const [path, leaf] of leavesOf(sample, [])) {
      const leaves = columns.get(path) ?? samples.map(() => null)
      if (columns.size >= columnsMax && !columns.has(path)) continue
      leaves[place] = leaf
      columns.set(path, leaves)
    }
  }
  return [...columns].map(([path, leaves]) => ({ path, leaves }))
}

/** What stands at a path of one sample. */
export function valueAt(sample: unknown, path: string): unknown {
  if (path === '') return sample
  return path.split('.').reduce((value, name) => childOf(value, name), sample)
}

/** Paths of the objects in the samples, the outermost first; a sample itself is the empty path. */
export function objectPaths(samples: readonly unknown[]): string[] {
  const paths = new Set<string>()
  for (const sample of samples) for (const path of objectsIn(sample, [])) paths.add(path)
  return [...paths].toSorted((one, other) => depthOf(one) - depthOf(other)).slice(0, objectsMax)
}

function depthOf(path: string): number {
  return path === '' ? 0 : path.split('.').length
}

function objectsIn(value: unknown, path: readonly string[]): string[] {
  if (!isObject(value)) return []
  return [path.join('.'), ...childrenOf(value, path).flatMap(([one, names]) => objectsIn(one, names))]
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && digitsOf(value) === null
}

function childOf(value: unknown, name: string): unknown {
  if (Array.isArray(value)) return /^\d+$/.test(name) ? (value as unknown[])[Number(name)] : undefined
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

function leavesOf(value: unknown, path: readonly string[]): [string, Leaf][] {
  const children = Array.isArray(value) ? value.slice(0, placesMax) : value
  if (Array.isArray(children) || isObject(children))
    return childrenOf(children, path).flatMap(([one, names]) => leavesOf(one, names))
  return [[path.join('.'), leafOf(value)]]
}

function childrenOf(value: object, path: readonly string[]): [unknown, string[]][] {
  if (path.length >= depthMax) return []
  return Object.entries(value)
    .filter(([name]) => nameForm.test(name))
    .map(([name, one]) => [one, [...path, name]])
}

function leafOf(value: unknown): Leaf {
  if (value === null || value === undefined) return { kind: 'null', text: '' }
  if (typeof value === 'string') return { kind: 'text', text: value }
  if (typeof value === 'boolean') return { kind: 'boolean', text: value ? 'true' : 'false' }
  return { kind: 'number', text: digitsOf(value) ?? '' }
}
