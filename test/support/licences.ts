import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** What every package that the program runs with is licensed by, of package-lock.json. */

type Locked = {
  version?: string
  license?: string
  dev?: boolean
  devOptional?: boolean
  os?: readonly string[]
  optionalDependencies?: Readonly<Record<string, string>>
}

export type Licensed = { name: string; version: string; licence: string }

/** Each may be used, changed and passed on beside Apache-2.0, if its text goes along. */
export const allowedLicences = [
  '0BSD',
  'Apache-2.0',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'MIT OR Apache-2.0',
  'MIT-0',
]

const root = join(import.meta.dirname, '../..')

/** In the order of their names. */
export function licensedPackages(): Licensed[] {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Readonly<Record<string, Locked>>
  }
  const all = Object.entries(lock.packages).map(([path, locked]) => [nameOf(path), locked] as const)
  return all
    .filter(([name, { dev, devOptional }]) => name !== '' && dev !== true && devOptional !== true)
    .map(([name, locked]) => ({
      name,
      version: locked.version ?? '',
      licence: locked.license ?? licenceOfParent(name, all),
    }))
    .toSorted((one, other) => (`${one.name} ${one.version}` < `${other.name} ${other.version}` ? -1 : 1))
}

function nameOf(path: string): string {
  return path.split('node_modules/').at(-1) ?? ''
}

/** The lock says none of what is for other machines; it is a part of the package that asks for it there. */
function licenceOfParent(name: string, all: readonly (readonly [string, Locked])[]): string {
  const parent = all.find(([, { optionalDependencies = {} }]) => name in optionalDependencies)
  return parent?.[1].license ?? 'unknown'
}

/** Text of docs/internals/licences.md. */
export function licencesPage(): string {
  const packages = licensedPackages()
  const names = [...new Set(packages.map(({ licence }) => licence))].toSorted()
  const sections = names.map((licence) => {
    const found = packages.filter((one) => one.licence === licence)
    const lines = found.map(({ name, version }) => `- \`${name}\` ${version}`)
    return `## ${licence}\n\n${[...new Set(lines)].join('\n')}\n`
  })
  return `# Licences

depositd itself is under Apache-2.0. These are the packages that it runs with, also those that only embedded mode or
another operating system needs, each with its licence as \`package-lock.json\` has it; the text of each is in its folder
below \`node_modules\`. The page is generated, and a test refuses a licence that is not on its list.

${sections.join('\n')}`
}
