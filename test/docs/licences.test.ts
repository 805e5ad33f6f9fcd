import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { audit, judgeAudit } from '../support/audit.ts'
import { allowedLicences, licensedPackages } from '../support/licences.ts'
import { readText, root } from './pages.ts'

const packages = licensedPackages()

test('every package that the program runs with has a licence that is allowed', () => {
  expect(packages.length).toBeGreaterThan(200)
  expect(packages.filter(({ licence }) => !allowedLicences.includes(licence))).toEqual([])
})

test('what is installed says the same as the lock', () => {
  const installed = packages.filter(({ name }) =>
    existsSync(join(root, 'node_modules', name, 'package.json')),
  )
  expect(installed.length).toBeGreaterThan(150)
  const other = installed.filter(({ name, version, licence }) => {
    const own = JSON.parse(readText(`node_modules/${name}/package.json`)) as Record<string, string>
    // Of a name that is there twice, the other version lies deeper.
    return own.version === version && own.license !== undefined && own.license !== licence
  })
  expect(other).toEqual([])
})

const of = (severity: string) => JSON.stringify({ vulnerabilities: { pg: { name: 'pg', severity } } })

test('a dependency with a serious advisory is found, a lesser one and a registry that does not tell are not', () => {
  expect(judgeAudit(of('critical'))).toEqual({ kind: 'found', says: 'pg (critical)' })
  expect(judgeAudit(of('high')).kind).toBe('found')
  expect(judgeAudit(of('low'))).toEqual({ kind: 'clean', says: 'nothing serious is known; 1 lesser' })
  expect(judgeAudit('{"message":"405 Method Not Allowed"}')).toEqual({
    kind: 'unasked',
    says: 'not made: 405 Method Not Allowed',
  })
  expect(judgeAudit('').kind).toBe('unasked')
})

test('where the registry is away, npm says so in the form that is looked for', () => {
  const away = { ...process.env, npm_config_registry: 'http://127.0.0.1:9/', npm_config_fetch_retries: '0' }
  expect(audit(away)).toMatchObject({
    kind: 'unasked',
    says: expect.stringMatching(/^not made: .*127\.0\.0\.1/),
  })
})
