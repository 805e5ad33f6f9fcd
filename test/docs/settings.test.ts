import { expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { knownNetworks } from '../../src/config/known-networks.ts'
import { parseSettings } from '../../src/config/settings.ts'
import { parseSettingsFile } from '../../src/config/settings-file.ts'
import { fences, tableRows } from '../support/markdown.ts'
import { readText } from './pages.ts'

/** What stands before the settings of the deposit service, which have a test of their own. */
const [page = ''] = readText('docs/settings.md').split('\n## The deposit service\n')
const rows = tableRows(page)
const example =
  fences(page).find(({ language, text }) => language === 'yaml' && text.includes('networks:'))?.text ?? ''

const required = {
  DATABASE_URL: 'postgres://database.example/depositd',
  SERVICE_URL: 'https://deposits.example',
  SERVICE_API_KEY: 'key',
  WEBHOOK_SECRETS: 'whsec_',
  RPC_BASE: 'https://node.example',
}

function noFile(path: string): string {
  throw new Error(`nothing reads ${path}`)
}

/** Every name that the program looks for, without `_FILE`. */
function namesRead(): string[] {
  const names = new Set<string>()
  const environment = new Proxy<Record<string, string>>(required, {
    get: (target, name) => {
      names.add(String(name).replace(/_FILE$/, ''))
      return target[String(name)]
    },
  })
  parseSettings(environment, noFile)
  return [...names]
}

test('every setting that the program reads is on the page, and no other', () => {
  const listed = rows.map(({ name }) => name).filter((name) => /^[A-Z_]+$/.test(name))
  expect(listed.toSorted()).toEqual(namesRead().toSorted())
})

test('the settings that are said to be required are, and no other', () => {
  const listed = rows.filter(({ name, cells }) => /^[A-Z_]+$/.test(name) && cells[0] === 'required')
  const missing = () => parseSettings({ RPC_BASE: required.RPC_BASE }, noFile)
  for (const { name } of listed) expect(missing).toThrow(`${name} is missing`)
  expect(() => parseSettings(required, noFile)).not.toThrow()
  expect(listed.map(({ name }) => name)).toEqual(Object.keys(required).filter((name) => name !== 'RPC_BASE'))
})

test('the defaults of the environment are those of the page', () => {
  const stated = rows.filter(
    ({ name, cells }) => /^[A-Z_]+$/.test(name) && /^`[^A-Z]+`$/.test(cells[0] ?? ''),
  )
  const defaults = Object.fromEntries(stated.map(({ name, cells }) => [name, cells[0]?.replaceAll('`', '')]))
  expect(Object.keys(defaults)).toHaveLength(9)
  expect(parseSettings({ ...required, ...defaults }, noFile)).toEqual(parseSettings(required, noFile))
})

const fileKeys = rows
  .map(({ name }) => name)
  .filter((name) =>
    /^(networks|services?|webhooks|intake|events|cases|addressBook|alerts|policy|accounts|valuation|ledger|canary|notifications|signIn|history|schedule)\b/.test(
      name,
    ),
  )

test('every key of the file is on the page, and no other', () => {
  expect(fileKeys.toSorted()).toEqual(keysOf(parseSettingsFile(example).file).toSorted())
})

test('no key of the schema is left out, optional ones included', () => {
  const declared = /^ +(\w+): (?:z\.|z$|duration|cron|networks|claim)/gm
  const sources = [
    'src/config/settings-file.ts',
    'src/config/network-schema.ts',
    'src/config/policy-schema.ts',
    'src/config/accounts.ts',
    'src/config/canary.ts',
    'src/config/sign-in.ts',
    'src/config/notifications.ts',
  ]
    .map(readText)
    .join('\n')
  // The page describes the fields of a `match` in one row, and those of `accounts.contra`.
  const inOneRow = ['owner', 'network', 'asset', 'delivery']
  const names = [...sources.matchAll(declared)]
    .map(([, name = '']) => name)
    .filter((name) => !inOneRow.includes(name))
  expect(names).toEqual(
    expect.arrayContaining(['startHeight', 'senders', 'pollOverlap', 'scan', 'apiWithin', 'bookOnDepth']),
  )
  expect(names.filter((name) => !fileKeys.some((key) => key.split('.').at(-1) === name))).toEqual([])
})

test('every key of the authentication is in its table, and no other', () => {
  const [, section = ''] = page.split('\n### Authentication\n')
  const [table = ''] = /\| Key \| Schemes [^]*?\n\n/.exec(section) ?? []
  const listed = tableRows(table).map(({ name }) => name)
  const source = readText('src/config/service-auth-schema.ts')
  const [schemes = ''] = /const hmac = [^]*?\.superRefine/.exec(source) ?? []
  const declared = [...schemes.matchAll(/^ {2,6}(?:(prefix|headers),$|(\w+): (?!true))/gm)].map(
    ([, short, long = '']) => short ?? long,
  )
  const inner = ['unit', 'ahead', 'form']
  expect([...new Set(declared)].filter((name) => !inner.includes(name)).toSorted()).toEqual(listed.toSorted())
  for (const name of inner) expect(table).toContain(`\`${name}\``)
})

test('the defaults of the file are those of the page', () => {
  const stated = rows.filter(
    ({ name, cells }) =>
      /^(service|intake|events|addressBook|alerts|policy|schedule)\./.test(name) && cells[0] !== '`{}`',
  )
  const file: Record<string, Record<string, unknown>> = {
    service: {},
    intake: {},
    events: {},
    addressBook: {},
    alerts: {},
    policy: {},
    schedule: {},
  }
  for (const { name, cells } of stated) {
    const [section = '', ...keys] = name.split('.')
    const value = parse(cells[0]?.replaceAll('`', '').replace(/^\*.*$/, '"$&"') ?? '') as unknown
    const [key = '', inner] = keys
    const own = (file[section] ??= {})
    own[key] = inner === undefined ? value : { ...(own[key] as object | undefined), [inner]: value }
  }
  expect(stated).toHaveLength(40)
  expect(parseSettingsFile(stringify(file))).toEqual(parseSettingsFile(''))
})

test('the example of the file is accepted', () => {
  expect(parseSettingsFile(example)).toMatchObject({ faults: [] })
  const environment = {
    ...required,
    RPC_BASE: 'https://node.example, https://another.example',
    RPC_SOLANA: 'https://node.example',
    SMTP_URL: 'smtps://mail.example',
    DEPOSITD_CONFIG: 'depositd.yaml',
  }
  const readFile = (path: string) => (path.endsWith('.key') ? '1'.repeat(64) : example)
  expect(() => parseSettings(environment, readFile)).not.toThrow()
})

test('the networks that are known without a file are those of the page', () => {
  const lines = knownNetworks.map(
    ({ name, family, chainId, assets }) =>
      `| ${name} | ${family} | ${chainId ?? ''} | ${assets.map(({ symbol }) => symbol).join(', ')} |`,
  )
  for (const line of lines) expect(page).toContain(line.replace('|  |', '| |'))
})

/** Keyed by networks, or with a page of their own. */
const described = [
  'service.senders',
  'service.auth',
  'webhooks',
  'policy.tolerance',
  'policy.fee',
  'policy.routes',
  'accounts.contra[]',
  'signIn.openId.roles',
  'accounts.labels[]',
]

/** Names of all keys, with `[]` behind lists. */
function keysOf(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return [...new Set(value.flatMap((item) => keysOf(item, `${path}[]`)))]
  if (typeof value !== 'object' || value === null || described.includes(path)) return []
  return Object.entries(value).flatMap(([key, inner]) => {
    const name = path === '' ? key : `${path}.${key}`
    return [name, ...keysOf(inner, name)]
  })
}
