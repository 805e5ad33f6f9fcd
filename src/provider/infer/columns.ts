import { digitsOf } from '../lossless-json.ts'

/** One value that is no object and no list, as text; numbers with the digits as they were sent. */
export type Leaf = { kind: 'text' | 'number' | 'boolean' | 'null'; text: string }

/** What stands at one path, over all samples: null where a sample has nothing there. */
export type Column = { path: string; leaves: readonly (Leaf | null)[] }

/** Longer lists are read up to here: what is told of a deposit stands in the first places. */
const placesMax = 4

/**
 * Every path of the samples, in the order in which they are met, with what each sample has there.
 * @param samples as parsed without loss of digits.
 */
export function columnsOf(samples: readonly unknown[]): Column[] {
  const columns = new Map<string, (Leaf | null)[]>()
  for (const [place, sample] of samples.entries()) {
    for (const [path, leaf] of leavesOf(sample, '')) {
      const leaves = columns.get(path) ?? samples.map(() => null)
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

/** Paths of the objects in a sample, the outermost first; the sample itself is the empty path. */
export function objectPaths(sample: unknown, path = ''): string[] {
  if (!isObject(sample)) return []
  return [path, ...Object.entries(sample).flatMap(([name, value]) => objectPaths(value, join(path, name)))]
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && digitsOf(value) === null
}

function childOf(value: unknown, name: string): unknown {
  if (Array.isArray(value)) return /^\d+$/.test(name) ? (value as unknown[])[Number(name)] : undefined
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

function leavesOf(value: unknown, path: string): [string, Leaf][] {
  const children = Array.isArray(value) ? value.slice(0, placesMax) : value
  if (Array.isArray(children) || isObject(children))
    return Object.entries(children).flatMap(([name, one]) => leavesOf(one, join(path, name)))
  return [[path, leafOf(value)]]
}

function leafOf(value: unknown): Leaf {
  if (value === null || value === undefined) return { kind: 'null', text: '' }
  if (typeof value === 'string') return { kind: 'text', text: value }
  if (typeof value === 'boolean') return { kind: 'boolean', text: value ? 'true' : 'false' }
  return { kind: 'number', text: digitsOf(value) ?? '' }
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}
