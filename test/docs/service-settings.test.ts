import { expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { parseServiceFile, readServiceSettings } from '../../src/config/service-settings.ts'
import { tableRows } from '../support/markdown.ts'
import { readText } from './pages.ts'

/** The settings of the deposit service, on the page of all settings. */
const [, section = ''] = readText('docs/settings.md').split('\n## The deposit service\n')
const rows = tableRows(section)
const ofEnvironment = rows.filter(({ name }) => /^[A-Z_]+$/.test(name))
const ofFile = rows.filter(({ name }) => !/^[A-Z_]+$/.test(name))

const required = {
  SERVICE_DATABASE_URL: 'postgres://db/service',
  SERVICE_SEED: 'ab'.repeat(32),
  RPC_BASE: 'https://node.example',
}

function read(environment: Record<string, string>) {
  return readServiceSettings(environment, () => '')
}

test('every setting that the service reads is on the page, and no other', () => {
  const names = new Set<string>()
  const environment = new Proxy<Record<string, string>>(required, {
    get: (target, name) => {
      names.add(String(name).replace(/_FILE$/, ''))
      return target[String(name)]
    },
  })
  read(environment)
  expect(ofEnvironment.map(({ name }) => name).toSorted()).toEqual([...names].toSorted())
})

test('the settings that are said to be required are, and no other', () => {
  const stated = ofEnvironment.filter(({ cells }) => cells[0] === 'required').map(({ name }) => name)
  expect(read({ RPC_BASE: required.RPC_BASE }).faults).toEqual(stated.map((name) => `${name} is missing`))
  expect(read(required).faults).toEqual([])
})

test('the defaults of the environment are those of the page', () => {
  const stated = ofEnvironment.filter(({ cells }) => /^`[^A-Z]+`$/.test(cells[0] ?? ''))
  const defaults = Object.fromEntries(
    stated.map(({ name, cells }) => [name, cells[0]?.replaceAll('`', '') ?? '']),
  )
  expect(Object.keys(defaults)).toEqual(['SERVICE_HOST', 'SERVICE_PORT', 'LOG_LEVEL'])
  expect(read({ ...required, ...defaults })).toEqual(read(required))
})

test('every key of the file is on the page, and no other', () => {
  const [, example = ''] = /### Example\n\n```yaml\n([^]*?)```/.exec(readText('docs/settings.md')) ?? []
  const { networks } = parse(example) as { networks: unknown }
  const { file } = parseServiceFile(stringify({ networks }))
  expect(ofFile.map(({ name }) => name).toSorted()).toEqual(keysOf(file).toSorted())
})

test('the defaults of the file are those of the page', () => {
  const file: Record<string, unknown> = {}
  for (const { name, cells } of ofFile) {
    const stated = /^`(.+)`$/.exec(cells[0] ?? '')?.[1]
    if (stated === undefined || stated === '{}') continue
    const [section_ = '', key] = name.split('.')
    const value = parse(stated) as unknown
    file[section_] = key === undefined ? value : { ...(file[section_] as object | undefined), [key]: value }
  }
  expect(Object.keys(file)).toEqual(['quotes', 'sweep', 'limits', 'webhooks', 'pollEvery'])
  expect(parseServiceFile(stringify(file))).toEqual(parseServiceFile(''))
})

/** Names of all keys, with `[]` behind lists. */
function keysOf(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return [...new Set(value.flatMap((item) => keysOf(item, `${path}[]`)))]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => {
    const name = path === '' ? key : `${path}.${key}`
    return [name, ...keysOf(inner, name)]
  })
}
