import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Comment, type Node, parseSync } from 'oxc-parser'

/** `npm run measure`: figures of the structure of the code, so that drift is seen. `--json` prints one document. */

type File = {
  path: string
  text: string
  lines: number
  imports: Set<string>
  /** Imports that run when they are needed, so that a command starts fast. */
  onDemand: Set<string>
  types: string[]
  functions: number[]
  comments: Comment[]
}

type Row = { what: string; is: string; goal: string }

/** Names that say what was done with a thing, and not what it is. */
const participle = /^([A-Z][a-z]+ed|Asked|Done|Found|Given|Kept|Known|Made|Read|Said|Seen|Shown|Told|Wanted)$/
/** Above this many lines together, a file and its only user are two things to read. */
const mergedMaxLines = 250
/** A file with one user has at least this many lines of its own. */
const ownMinLines = 60

const root = join(import.meta.dirname, '../..')
const files = pathsIn('src').map(readSource)
const byPath = new Map(files.map((file) => [file.path, file]))
const daemon = files.filter(({ path }) => !/^src\/(service|sandbox)\//.test(path))
const tests = pathsIn('test').filter((path) => !/^test\/(chaos|oracle|conformance|soak|support)\//.test(path))
const comments = files.flatMap((file) => file.comments.map(({ value }) => value)).join(' ')

const cycles = findCycles()

const rows: Row[] = [
  { what: 'source files', is: `${files.length}`, goal: '≤ 550' },
  { what: 'source lines', is: `${linesOf(files)}`, goal: '' },
  { what: 'source lines without service and sandbox', is: `${linesOf(daemon)}`, goal: '≤ 40000' },
  {
    what: 'lines per function: median, p95, max',
    is: spread(files.flatMap(({ functions }) => functions)),
    goal: '8, 25, 50',
  },
  {
    what: 'lines per file: median, p95, max',
    is: spread(files.map(({ lines }) => lines)),
    goal: 'median ≥ 90, max 300',
  },
  {
    what: 'files with one importer, in the same folder, small enough to merge',
    is: `${mergeable().length}`,
    goal: '< 20',
  },
  {
    what: `files with one importer, in any folder, of fewer than ${ownMinLines} lines`,
    is: `${small().length}`,
    goal: '< 20',
  },
  { what: 'type names declared more than once', is: `${repeatedTypes().length}`, goal: '< 15' },
  { what: 'types named by a bare participle', is: `${participles().length}`, goal: '0' },
  {
    what: 'import cycles, types included: cycles, files in them',
    is: `${cycles.length}, ${cycles.flat().length}`,
    goal: '0, 0',
  },
  {
    what: 'comments: words, "if", "where"',
    is: `${words(comments)}, ${count(comments, 'if')}, ${count(comments, 'where')}`,
    goal: 'at most one "where" per 1000 words',
  },
  { what: 'test lines per source line', is: ratio(), goal: '≤ 1.1' },
]

if (process.argv.includes('--json'))
  process.stdout.write(
    `${JSON.stringify(
      {
        rows,
        cycles,
        mergeable: mergeable(),
        small: small(),
        repeatedTypes: repeatedTypes(),
        participles: participles(),
      },
      null,
      2,
    )}\n`,
  )
else
  for (const { what, is, goal } of rows) process.stdout.write(`${what.padEnd(68)} ${is.padEnd(16)} ${goal}\n`)

function pathsIn(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name))
}

function readSource(path: string): File {
  const text = readFileSync(join(root, path), 'utf8')
  const { program, module, comments: found } = parseSync(path, text)
  const onDemand = localPaths(
    path,
    [...text.matchAll(/\bimport\('([^']+)'\)/g)].map(([, request = '']) => request),
  )
  const atStart = localPaths(path, [
    ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...module.staticExports.flatMap(({ entries }) =>
      entries.map(({ moduleRequest }) => moduleRequest?.value ?? ''),
    ),
  ])
  const types: string[] = []
  const functions: number[] = []
  const visit = (node: Node): void => {
    if (node.type === 'TSTypeAliasDeclaration' || node.type === 'TSInterfaceDeclaration')
      types.push(node.id.name)
    const isFunction =
      node.type === 'FunctionDeclaration' ||
      node.type === 'FunctionExpression' ||
      node.type === 'ArrowFunctionExpression'
    if (isFunction && node.body?.type === 'BlockStatement')
      functions.push(countLines(text.slice(node.start, node.end)))
    for (const child of Object.values(node).flat()) if (isNode(child)) visit(child)
  }
  visit(program)
  return {
    path,
    text,
    lines: countLines(text) - 1,
    imports: atStart.union(onDemand),
    onDemand,
    types,
    functions,
    comments: found,
  }
}

function localPaths(path: string, requests: readonly string[]): Set<string> {
  return new Set(
    requests.filter((request) => request.startsWith('.')).map((request) => join(dirname(path), request)),
  )
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}

function countLines(text: string): number {
  return text.split('\n').length
}

function linesOf(some: readonly File[]): number {
  return some.reduce((sum, { lines }) => sum + lines, 0)
}

function spread(values: number[]): string {
  const sorted = values.toSorted((one, other) => one - other)
  return [0.5, 0.95, 1]
    .map((part) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))])
    .join(', ')
}

function mergeable(): string[] {
  return files.flatMap(({ path, lines }) => {
    const user = onlyUser(path)
    const isSmall =
      user !== null && dirname(user.path) === dirname(path) && user.lines + lines <= mergedMaxLines
    return isSmall ? [path] : []
  })
}

function small(): string[] {
  return files.flatMap(({ path, lines }) => (lines < ownMinLines && onlyUser(path) !== null ? [path] : []))
}

/** Null if there are several or none, or if it imports the file only when it is needed. */
function onlyUser(path: string): File | null {
  const [user = null, ...others] = files.filter(({ imports }) => imports.has(path))
  return others.length > 0 || user?.onDemand.has(path) === true ? null : user
}

function participles(): string[] {
  return files.flatMap(({ path, types }) =>
    types.filter((name) => participle.test(name)).map((name) => `${path} ${name}`),
  )
}

function repeatedTypes(): string[] {
  const declared = Map.groupBy(
    files.flatMap(({ path, types }) => types.map((name) => ({ name, path }))),
    ({ name }) => name,
  )
  return [...declared]
    .filter(([, places]) => places.length > 1)
    .map(([name, places]) => `${name} ${places.length}×`)
    .toSorted()
}

/** Groups of files of which each can be reached from each other. */
function findCycles(): string[][] {
  const reached = new Map(files.map(({ path }) => [path, reachableFrom(path)]))
  const inCycle = files.map(({ path }) => path).filter((path) => reached.get(path)?.has(path))
  const groups = Map.groupBy(inCycle, (path) =>
    inCycle.filter((other) => reached.get(path)?.has(other) && reached.get(other)?.has(path)).join(),
  )
  return [...groups.values()]
}

function reachableFrom(start: string): Set<string> {
  const reached = new Set<string>()
  const next = [start]
  for (let path = next.pop(); path !== undefined; path = next.pop())
    for (const other of byPath.get(path)?.imports ?? [])
      if (!reached.has(other)) {
        reached.add(other)
        next.push(other)
      }
  return reached
}

function words(text: string): number {
  return text.split(/\s+/).filter((word) => /[a-z]/i.test(word)).length
}

function count(text: string, word: string): number {
  return text.match(new RegExp(`\\b${word}\\b`, 'gi'))?.length ?? 0
}

function ratio(): string {
  const testLines = tests.reduce(
    (sum, path) => sum + countLines(readFileSync(join(root, path), 'utf8')) - 1,
    0,
  )
  return (testLines / linesOf(files)).toFixed(2)
}
