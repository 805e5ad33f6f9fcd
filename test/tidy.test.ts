import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'

/** House rules that the linter cannot see. */

const root = join(import.meta.dirname, '..')

function filesIn(folder: string, ending: string): { path: string; text: string }[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({ path: relative(root, path), text: readFileSync(path, 'utf8') }))
}

function offending(files: { path: string; text: string }[], pattern: RegExp): string[] {
  return files.filter(({ text }) => pattern.test(text)).map(({ path }) => path)
}

/** Of the files that `npm run measure` counts as small enough to merge with their only user. */
const mergeableMax = 5

const sources = filesIn('src', '.ts')
const core = filesIn('src/core', '.ts')

test('the core is handed time and chance, it does not ask for them', () => {
  expect(core.length).toBeGreaterThan(10)
  expect(
    offending(core, /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bperformance\b|\basync\b|\bawait\b/),
  ).toEqual([])
})

test('money is never read by functions that round', () => {
  expect(offending(sources, /\bparseUnits\b|\bparseFloat\b|\bparseInt\b/)).toEqual([])
  expect(offending(core, /\bNumber\((amount|fee|value)/)).toEqual([])
})

test('files are named for what they hold', () => {
  const vague = /(^|[-/])(util|utils|helper|helpers|manager|common|misc)([-.]|\.ts$)/
  expect(sources.map(({ path }) => path).filter((path) => vague.test(path))).toEqual([])
})

test('only main.ts reads the environment of the process', () => {
  expect(offending(sources, /process\.env\b/)).toEqual(['src/main.ts'])
})

test('the deposit service imports of the daemon only what both may share', () => {
  const shared =
    /^src\/(service\/|address\/|http\/|outbox\/|log\/log-event\.ts|core\/(asset|money|time|errors)\.ts|store\/(database|migrate)\.ts)/
  const imported = filesIn('src/service', '.ts').flatMap(({ path, text }) =>
    [...text.matchAll(/\b(?:from|import\()\s*'(\.[^']+)'/g)].map(
      ([, request = '']) => `${path} imports ${join(dirname(path), request)}`,
    ),
  )
  expect(imported.length).toBeGreaterThan(100)
  expect(imported.filter((line) => !shared.test(line.split(' imports ')[1] ?? ''))).toEqual([])
})

test('the services of other shapes share no code with ours', () => {
  const fronts = filesIn('test/shapes', '.ts').filter(({ path }) => !path.endsWith('.test.ts'))
  const imported = fronts.flatMap(({ path, text }) =>
    [...text.matchAll(/\b(?:from|import\()\s*'([^']+)'/g)].map(
      ([, request = '']) => `${path} imports ${request}`,
    ),
  )
  expect(imported.length).toBeGreaterThan(10)
  expect(imported.filter((line) => !/ imports (node:|\.\/)/.test(line))).toEqual([])
})

test('nothing is left for later in comments, and no test is switched off', () => {
  const all = [...sources, ...filesIn('test', '.ts').filter(({ path }) => path !== 'test/tidy.test.ts')]
  expect(offending(all, /\b(TODO|FIXME|XXX)\b|\b(test|describe|it)\.(only|skip)\(/)).toEqual([])
})

test('no query is made in a loop over rows', () => {
  const stores = filesIn('src/store', '.ts').filter(({ path }) => path !== 'src/store/database.ts')
  expect(offending(stores, /for (await )?\(.*\) (\{\s*)?await /)).toEqual([])
})

const measured = JSON.parse(
  execFileSync(process.execPath, [join(root, 'test/support/measure.ts'), '--json'], { encoding: 'utf8' }),
) as {
  cycles: string[][]
  mergeable: string[]
  repeatedTypes: string[]
  participles: string[]
}

test('a type is named by a noun of its own', () => {
  const { repeatedTypes, participles } = measured
  expect({ repeatedTypes, participles }).toEqual({ repeatedTypes: [], participles: [] })
})

test('no files import each other in a circle, not even types', () => {
  expect(measured.cycles).toEqual([])
})

test('a small file with one user lives with that user, but for a few', () => {
  expect(measured.mergeable.slice(mergeableMax)).toEqual([])
})

test('commands are printed and documented in the form that starts fast, and that can be pasted', () => {
  const command =
    'start|migrate|service|webhooks|channels|wallets|deposits|mismatches|ledger|doctor|policy|rebuild|replay|backfill|evidence|people|decisions|api|events|notifications'
  const hint = new RegExp(`(["(\`]|: |^)depositd (${command})\\b`, 'm')
  const shown = [
    ...sources,
    ...filesIn('db', '.sql'),
    ...filesIn('docs', '.md'),
    { path: 'README.md', text: readFileSync(join(root, 'README.md'), 'utf8') },
  ]
  expect(offending(shown, hint)).toEqual([])
  // That page says why a supervisor is not given it.
  expect(offending(filesIn('docs', '.md'), /npx depositd/)).toEqual(['docs/operations.md'])
})

test('migrations are numbered without a gap, and none is too long to read at once', () => {
  for (const folder of ['db/migrations', 'db/service/migrations']) {
    const long = filesIn(folder, '.sql').filter(({ text }) => text.split('\n').length > 301)
    expect(long.map(({ path }) => path)).toEqual([])
    const names = readdirSync(join(root, folder)).toSorted()
    expect(names.map((name) => Number(name.slice(0, 4)))).toEqual(names.map((_name, place) => place + 1))
  }
})

type Locked = {
  resolved?: string
  integrity?: string
  os?: string[]
  optionalDependencies?: Record<string, string>
}

function lockedPackages(): [string, Locked][] {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, Locked>
  }
  return Object.entries(lock.packages).filter(([path]) => path !== '')
}

test('the lock file names no registry, and every package for this system is verified', () => {
  const packages = lockedPackages()
  expect(packages.filter(([, { resolved }]) => resolved !== undefined)).toEqual([])
  const unverified = packages.filter(([, { integrity, os }]) => integrity === undefined && os === undefined)
  expect(unverified.map(([path]) => path)).toEqual([])
})

test('the lock file names the packages of every platform, or "npm ci" would refuse it', () => {
  const packages = lockedPackages()
  const wanted = packages.flatMap(([, { optionalDependencies }]) => Object.keys(optionalDependencies ?? {}))
  const named = (name: string) => packages.some(([path]) => path.endsWith(`node_modules/${name}`))
  expect(wanted.length).toBeGreaterThan(50)
  expect(wanted.filter((name) => !named(name))).toEqual([])
})

test('the change log has a section for unreleased changes', () => {
  expect(readFileSync(join(root, 'CHANGELOG.md'), 'utf8')).toMatch(/^## \[?Unreleased/m)
})
