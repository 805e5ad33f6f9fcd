import { readFileSync, writeFileSync } from 'node:fs'

/**
 * `node test/support/complete-lock.ts`, after any change of dependencies: names in package-lock.json the optional
 * packages of other platforms that a partial registry could not describe. Without them `npm ci` refuses the file.
 */

type Entry = {
  version?: string
  dev?: boolean
  optional?: boolean
  os?: string[]
  cpu?: string[]
  libc?: string[]
  optionalDependencies?: Record<string, string>
}

const systems: Record<string, string> = { windows: 'win32' }
const systemNames = ['android', 'darwin', 'freebsd', 'linux', 'openharmony', 'win32', 'windows']
const processors: Record<string, string> = { amd64: 'x64' }
const processorNames = ['arm64', 'x64', 'amd64', 'ia32', 'arm', 'ppc64', 's390x', 'riscv64']
const musl = new Set(['musl', 'musleabihf'])
const glibc = new Set(['gnu', 'gnueabihf'])

const path = new URL('../../package-lock.json', import.meta.url)
const lock = JSON.parse(readFileSync(path, 'utf8')) as { packages: Record<string, Entry> }
const { '': root = {}, ...packages } = lock.packages

const missing = Object.values(packages).flatMap((entry) =>
  Object.entries(entry.optionalDependencies ?? {})
    .filter(([name]) => !Object.keys(packages).some((key) => key.endsWith(`node_modules/${name}`)))
    .map(([name, range]): [string, Entry] => [`node_modules/${name}`, describe(name, range, entry)]),
)
const sorted = Object.entries({ ...packages, ...Object.fromEntries(missing) }).toSorted(([left], [right]) =>
  left < right ? -1 : 1,
)
writeFileSync(
  path,
  `${JSON.stringify({ ...lock, packages: { '': root, ...Object.fromEntries(sorted) } }, null, 2)}\n`,
)
process.stdout.write(`named ${missing.length} packages of other platforms\n`)

/** What the name of a platform's package says about where it runs; npm then knows where not to fetch it. */
function describe(name: string, range: string, { dev }: Entry): Entry {
  const words = name.split(/[-/_.]/)
  const os = systemNames.filter((word) => words.includes(word)).map((word) => systems[word] ?? word)
  const cpu = processorNames.filter((word) => words.includes(word)).map((word) => processors[word] ?? word)
  const libc = [
    ...(words.some((word) => musl.has(word)) ? ['musl'] : []),
    ...(words.some((word) => glibc.has(word)) ? ['glibc'] : []),
  ]
  return {
    version: range.replace(/^[~^]/, ''),
    ...(dev === true && { dev }),
    optional: true,
    ...(cpu.length > 0 && { cpu }),
    ...(os.length > 0 && { os }),
    ...(libc.length > 0 && { libc }),
  }
}
