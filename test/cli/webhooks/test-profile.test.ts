import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runCommand } from '../../support/command.ts'
import { temporaryFolderOfFile } from '../../support/folder.ts'

const folder = temporaryFolderOfFile()

function file(name: string, content: unknown): string {
  const path = join(folder, name)
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

const profile = file(
  'acme.yaml',
  `webhook:
  kind: { paths: event, words: { paid: deposit, ping: ignored } }
  record: payload
  occurredAt: { paths: sent, as: ms }
record:
  id: reference
  only: { side: [in] }
  owner: { kind: { otherwise: channel }, id: account }
  status: { paths: state, words: { DONE: settled } }
  createdAt: { paths: created, as: s }
  occurredAt: changed
  deposit:
    network: in.chain
    address: in.to
    asset: { paths: in.token, as: symbol }
    amount: { paths: in.value, as: units }
    transaction: in.hash
  settlement:
    network: out.chain
    address: { paths: out.to, presence: optional }
    asset: { paths: out.token, as: symbol }
    amount: { paths: out.value, as: units }
    transaction: out.hash
    fee: { paths: out.fee, as: units }
networks: { BASE: base, ETH: mainnet }
list: { items: page.rows }
`,
)

const record = {
  reference: 4711,
  side: 'in',
  account: 'shop',
  state: 'DONE',
  created: 1766310000,
  changed: '2025-12-21T09:40:05Z',
  in: { chain: 'BASE', to: `0x${'A'.repeat(40)}`, token: 'USDC', value: 4500.5, hash: `0x${'1'.repeat(64)}` },
  out: { chain: 'ETH', to: `0x${'b'.repeat(40)}`, token: 'USDC', value: '4500.25', hash: null, fee: '0.25' },
}
const event = { event: 'paid', sent: 1766310006000, payload: record }
const gone = { ...record, state: 'GONE' }
const capture = (body: object) => ({
  headers: { authorization: 'Bearer sk_live' },
  body: JSON.stringify(body),
  received_at: '2026-01-01T00:00:00Z',
})

const run = (words: string, environment: Record<string, string> = {}) =>
  runCommand(`profile test ${profile} ${words}`, environment)
const samplesOf = async (words: string, environment?: Record<string, string>) => {
  const { out } = await run(`${words} --json`, environment)
  return (JSON.parse(out) as { samples: { result: string }[] }).samples
}

test('without a database, every sample is shown as read, or as ignored and why', async () => {
  const records = file('records.json', { page: { rows: [record, { ...record, side: 'out' }] } })
  const { status, out, err } = await run(`--records ${records}`)
  expect({ status, err }).toEqual({ status: 0, err: '' })
  expect(out).toMatchInlineSnapshot(`
    "record 1: read
      id             4711
      status         settled
      owner          channel shop
      occurred       2025-12-21T09:40:05.000Z
      list time      2025-12-21T09:40:00.000Z
      deposit        4,500.5 USDC on base
        address      0xaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
        transaction  0x1111111111111111111111111111111111111111111111111111111111111111
      settlement     4,500.25 USDC on mainnet
        address      0xbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb
        transaction  not stated
        fee          0.25 USDC

    record 2: ignored
      by             record.only
      path           side
      found          out

    Read 1 of 2 samples, ignored 1, with the built-in networks.
    Set this file as the profile of the service: the daemon follows, and applies stored payloads.
    "
  `)
})

test('a sample that cannot be read is shown with the path, the value and what to change, and the status is 1', async () => {
  const webhooks = file(
    'webhooks.jsonl',
    [event, { ...event, payload: gone }].map((one) => JSON.stringify(one)).join('\n'),
  )
  const { status, out } = await run(`--webhooks ${webhooks}`)
  expect(status).toBe(1)
  expect(out).toContain('webhook 1: read\n')
  expect(out.slice(out.indexOf('webhook 2'))).toMatchInlineSnapshot(`
    "webhook 2: cannot be read
      path           payload.state
      found          GONE
      problem        unknown status GONE
      fix            add it to record.status.words
      profile key    record.status

    Read 1 of 2 samples, ignored 0, with the built-in networks.
    Correct the profile and run this command again. The daemon follows, and applies stored payloads.
    "
  `)
})

test('with --json the same is one document', async () => {
  const records = file('mixed.json', [record, { ...record, side: 'out' }, gone])
  const { status, out } = await run(`--records ${records} --json`)
  expect(status).toBe(1)
  expect(JSON.parse(out)).toMatchObject({
    profile,
    read: 1,
    ignored: 1,
    unreadable: 1,
    samples: [
      {
        source: 'record',
        number: 1,
        result: 'read',
        service_id: '4711',
        status: 'settled',
        owner: { kind: 'channel', id: 'shop' },
        deposit: { network: 'base', amount: '4500.500000', amount_base: '4500500000', asset_symbol: 'USDC' },
        settlement: { network: 'mainnet', amount: '4500.250000', tx: null, fee: '0.250000' },
        refund_tx: null,
        occurred_at: '2025-12-21T09:40:05.000Z',
        list_time: '2025-12-21T09:40:00.000Z',
      },
      { number: 2, result: 'ignored', key: 'record.only', path: 'side', value: 'out' },
      {
        number: 3,
        result: 'unreadable',
        kind: 'unknown_status',
        path: 'state',
        value: 'GONE',
        problem: 'unknown status GONE',
        fix: 'add it to record.status.words',
        keys: ['record.status'],
      },
    ],
  })
})

test('the index, the refund and the lack of a time, of a delivery and of an owner are shown', async () => {
  const small = file(
    'small.yaml',
    `record:
  id: id
  status: { otherwise: refunded }
  deposit: { network: net, address: to, asset: { otherwise: native }, amount: amount, index: log }
  refund: { transaction: back }
`,
  )
  const back = `0x${'2'.repeat(64)}`
  const one = file('small.json', {
    id: 'd1',
    net: 'base',
    to: `0x${'a'.repeat(40)}`,
    amount: '5',
    log: 7,
    back,
  })
  const { out } = await runCommand(`profile test ${small} --records ${one}`, {})
  for (const text of [
    'owner          by the address book',
    'occurred       not stated: the time of receipt counts',
    'list time      none',
    '  index        7',
    'settlement     not stated',
    `refund         ${back}`,
  ])
    expect(out).toContain(`  ${text}\n`)
  const { out: json } = await runCommand(`profile test ${small} --records ${one} --json`, {})
  expect(JSON.parse(json)).toMatchObject({
    samples: [
      {
        owner: null,
        occurred_at: null,
        list_time: null,
        settlement: null,
        refund_tx: back,
        deposit: { index: '7' },
      },
    ],
  })
})

test.each<[string, unknown, string[]]>([
  ['one object', record, ['read']],
  ['a list', [record, gone], ['read', 'unreadable']],
  ['an answer of the list call', { page: { rows: [record, gone] } }, ['read', 'unreadable']],
  ['JSON lines', `${JSON.stringify(record)}\n\n${JSON.stringify(gone)}\n`, ['read', 'unreadable']],
  [
    'answers as JSON lines',
    `${JSON.stringify([record])}\n${JSON.stringify({ page: { rows: [gone] } })}`,
    ['read', 'unreadable'],
  ],
])('records are read from %s', async (_what, content, expected) => {
  const samples = await samplesOf(`--records ${file('shape.json', content)}`)
  expect(samples.map(({ result }) => result)).toEqual(expected)
})

test('of captured webhooks only the body counts, and no header is shown', async () => {
  const { body, ...encoded } = capture(event)
  const inBase64 = { ...encoded, body_base64: Buffer.from(body).toString('base64') }
  const events = [
    inBase64,
    capture(event),
    capture({ ...event, event: 'ping' }),
    capture({ ...event, payload: gone }),
  ]
  const path = file('captures.json', events)
  expect(await samplesOf(`--webhooks ${path}`)).toMatchObject([
    { source: 'webhook', result: 'read' },
    { source: 'webhook', result: 'read' },
    { result: 'ignored', key: 'webhook.kind', path: 'event', value: 'ping' },
    { result: 'unreadable', path: 'payload.state', keys: ['record.status'] },
  ])
  expect((await run(`--webhooks ${path}`)).out).not.toContain('sk_live')
})

test('networks and assets are those of the settings file, and assets without decimals are named', async () => {
  const settings = file(
    'depositd.yaml',
    `networks:
  - { name: base, family: evm, chainId: 8453, assets: [{ symbol: USDC, contract: '0x${'c'.repeat(40)}', decimals: 8 },
      { symbol: OPEN, contract: '0x${'d'.repeat(40)}' }] }
  - { name: mainnet, family: evm, chainId: 1, assets: [{ symbol: USDC, contract: '0x${'e'.repeat(40)}', decimals: 6 }] }
`,
  )
  const records = file('settings.json', record)
  const environment = { DEPOSITD_CONFIG: settings }
  expect(await samplesOf(`--records ${records}`, environment)).toMatchObject([
    { deposit: { asset: `base/0x${'c'.repeat(40)}`, amount_base: '450050000000' } },
  ])
  const { out } = await run(`--records ${records}`, environment)
  expect(out).toContain(`with the networks of ${settings}.\n`)
  expect(out).toContain('Unknown here, since the settings file gives no decimals: OPEN on base.\n')
})

test('samples may come from standard input', () => {
  const command = 'bin/depositd profile test "$0" --records -'
  const { status, stdout } = spawnSync('bash', ['--norc', '-c', command, profile], {
    input: JSON.stringify(record),
    encoding: 'utf8',
  })
  expect(stdout).toContain('record 1: read\n')
  expect(status).toBe(0)
})

test.each([
  ['PROFILE', 'depositd: no samples; give records with --records, or webhooks with --webhooks'],
  [
    'PROFILE --records - --webhooks -',
    'depositd: --records and --webhooks are both -; give a file for one of them',
  ],
  [
    'PROFILE --records HTML',
    'depositd: HTML is neither a JSON document nor JSON lines; save a response of the API unchanged',
  ],
  ['HTML --records HTML', 'depositd: profile HTML, the file: must be keys with values'],
  ['MOON --records HTML', /^depositd: profile MOON, .*must name a network of the settings, not moon/],
])('profile test %s is wrong use', async (words, expected) => {
  const paths: Record<string, string> = {
    PROFILE: profile,
    HTML: file('bad.html', '<html>'),
    MOON: file(
      'moon.yaml',
      'record: { id: a, status: b, deposit: { network: c, address: d, asset: e, amount: f } }\nnetworks: { x: moon }\n',
    ),
  }
  const put = (text: string) => text.replaceAll(/PROFILE|HTML|MOON/g, (name) => paths[name] ?? name)
  const { status, out, err } = await runCommand(`profile test ${put(words)}`, {})
  expect({ status, out }).toEqual({ status: 2, out: '' })
  const text = Object.entries(paths).reduce((line, [name, path]) => line.replaceAll(path, name), err)
  if (typeof expected === 'string') expect(text).toBe(`${expected}\n`)
  else expect(text).toMatch(expected)
})
