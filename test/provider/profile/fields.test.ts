import { expect, test } from 'vitest'
import { recipient, txId, usdcOnBase } from '../../support/evidence.ts'
import { document, read, readText, receivedAt } from '../../support/small-profile.ts'

test('without a time of its own, a record counts from its receipt', () => {
  expect(read({})).toMatchObject({ claim: { occurredAt: receivedAt, isUndated: true } })
  expect(read({ '  occurredAt: { paths: at, presence: optional }\n': '' })).toMatchObject({
    claim: { occurredAt: receivedAt, isUndated: true },
  })
})

test('a time of its own counts as such also where it is that of its receipt', () => {
  const reading = read({}, { at: receivedAt.toISOString() })
  expect(reading).toMatchObject({ claim: { occurredAt: receivedAt } })
  expect(reading).not.toHaveProperty('claim.isUndated')
})

test.each<[string, object]>([
  ['done', { claim: { status: 'settled' } }],
  ['done-in-part', { claim: { status: 'failed' } }],
  ['doing', { claim: { status: 'held' } }],
  ['*ne', { claim: { status: 'refunded' } }],
  ['gone', { kind: 'unknown_status', path: 'state', problem: 'unknown status gone' }],
  ['Done', { kind: 'unknown_status' }],
  ['toString', { kind: 'unknown_status' }],
  ['__proto__', { kind: 'unknown_status' }],
])('the word %s', (state, expected) => {
  expect(read({}, { state })).toMatchObject(expected)
})

test('numbers and truth values are words, too', () => {
  const words = { 'words: { done: settled,': "words: { '7': settled, 'true': confirmed," }
  expect(read(words, { state: 7 })).toMatchObject({ claim: { status: 'settled' } })
  expect(read(words, { state: true })).toMatchObject({ claim: { status: 'confirmed' } })
})

test.each<[string, string, unknown, object]>([
  ['required', '', null, { kind: 'schema_drift', path: 'ref', problem: 'is null' }],
  ['required', '', undefined, { kind: 'schema_drift', path: 'ref', problem: 'is missing' }],
  ['required', '', '', { kind: 'schema_drift', path: 'ref', problem: 'is empty' }],
  ['nullable', '', null, { claim: { deposit: { index: null } } }],
  ['nullable', '', undefined, { kind: 'schema_drift', path: 'ref', problem: 'is missing' }],
  ['optional', '', undefined, { claim: { deposit: { index: null } } }],
  ['optional', "absent: ['', none]", 'none', { claim: { deposit: { index: null } } }],
  ['required', "absent: ['', none]", '', { kind: 'schema_drift', path: 'ref', problem: 'is null' }],
  ['optional', 'otherwise: x', null, { claim: { deposit: { index: 'x' } } }],
  ['required', 'otherwise: x', null, { kind: 'schema_drift', path: 'ref', problem: 'is null' }],
])('a field that is %s, %s, and stands as %j', (...[presence, more, ref, expected]) => {
  const index = `index: { paths: ref, presence: ${presence}, ${more} }`
  expect(read({ '    amount: amount': `    amount: amount\n    ${index}` }, { ref })).toMatchObject(expected)
})

test('a constant is one in our words, and the first path that leads to something counts', () => {
  expect(read({})).toMatchObject({ claim: { owner: { kind: 'channel', id: 'shop' } } })
  expect(read({}, { owner: 'other' })).toMatchObject({ claim: { owner: { id: 'other' } } })
  expect(read({ '  id: id': '  id: [gone, id, net]' })).toMatchObject({ claim: { serviceId: 'd1' } })
  expect(read({ '  id: id': '  id: [empty, id]' }, { empty: null })).toMatchObject({
    claim: { serviceId: 'd1' },
  })
})

test.each<[string, object]>([
  ['list.0.id', { claim: { serviceId: 'first' } }],
  ['list.-1.id', { claim: { serviceId: 'last' } }],
  ['list.2.id', { problem: 'is missing' }],
  ['list.first.id', { problem: 'is missing' }],
  ['list.length', { problem: 'is missing' }],
  ['id.length', { problem: 'is missing' }],
  ['constructor.name', { problem: 'is missing' }],
  ['none.id', { problem: 'is null' }],
  ['list', { problem: 'is neither text nor a number' }],
])('the path %s', (path, expected) => {
  const changes = { list: [{ id: 'first' }, { id: 'last' }], none: null }
  expect(read({ '  id: id': `  id: ${path}` }, changes)).toMatchObject(expected)
})

test('without an owner in the profile none is claimed, and without a settlement nothing is said of one', () => {
  const owner = '  owner: { kind: { otherwise: channel }, id: { paths: owner, otherwise: shop } }\n'
  expect(read({ [owner]: '' })).toMatchObject({ claim: { owner: null, settlement: null } })
})

test('records of other things are passed over, and so is one that tells of no payment yet', () => {
  const only = { '  id: id': '  id: id\n  only: { side: [in, both] }' }
  expect(read(only, { side: 'in' })).toMatchObject({ kind: 'claim' })
  expect(read(only, { side: 'both' })).toMatchObject({ kind: 'claim' })
  expect(read(only, { side: 'out' })).toMatchObject({ kind: 'ignored' })
  expect(read(only, {})).toMatchObject({ kind: 'ignored' })
  expect(read(only, { side: { toString: 'in' } })).toMatchObject({ kind: 'ignored' })
  const second = { '  id: id': "  id: id\n  only: { version: ['2'] }" }
  expect(read(second, { version: 2 })).toMatchObject({ kind: 'claim' })
  expect(read(second, { version: 2.5 })).toMatchObject({ kind: 'ignored' })
  expect(read({ 'done: settled': 'done: ignored' }, { to: null })).toMatchObject({ kind: 'ignored' })
})

test.each<[string, string, Record<string, string>, object]>([
  [
    'a word of theirs for a network',
    'networks: { B: base }',
    { net: 'B' },
    { network: 'base', asset: usdcOnBase },
  ],
  ['our own word for it', 'networks: { B: base }', { net: 'base' }, { network: 'base' }],
  ['a word for an asset', 'assets: { T: USDC }', { token: 'T' }, { asset: usdcOnBase }],
  ['a word for a contract', `assets: { T: '${usdcOnBase.slice(5)}' }`, { token: 'T' }, { asset: usdcOnBase }],
  ['a word for both', 'assets: { T: base/USDC }', { token: 'T' }, { asset: usdcOnBase }],
])('%s is translated', (...[, line, changes, deposit]) => {
  expect(read({ '\nrecord:': `\n${line}\nrecord:` }, changes)).toMatchObject({ claim: { deposit } })
})

test.each<[string, string, Record<string, string>, object]>([
  ['an unknown network', '', { net: 'moon' }, { path: 'net', problem: 'unknown network moon' }],
  ['an unknown symbol', '', { token: 'EURC' }, { path: 'token', problem: 'unknown asset EURC on base' }],
  [
    'an asset of another network',
    'assets: { T: arbitrum/USDC }',
    { token: 'T' },
    { path: 'token', problem: 'T is arbitrum/USDC, and the network is base' },
  ],
  [
    "a coin that the settings don't have",
    'assets: { T: native }',
    { token: 'T' },
    { path: 'token', problem: 'unknown asset base/native' },
  ],
])('%s is named', (...[, line, changes, expected]) => {
  expect(read({ '\nrecord:': `\n${line}\nrecord:` }, changes)).toMatchObject({
    kind: 'schema_drift',
    ...expected,
  })
})

test('where no network is named, the asset says it', () => {
  const lines = { '    network: net\n': '', '\nrecord:': '\nassets: { T: arbitrum/USDC, U: USDC }\nrecord:' }
  expect(read(lines, { token: 'T' })).toMatchObject({ claim: { deposit: { network: 'arbitrum' } } })
  const unknown = { kind: 'schema_drift', path: 'token' }
  expect(read(lines, { token: 'U' })).toMatchObject(unknown)
  expect(read(lines, { token: 'USDC' })).toMatchObject(unknown)
})

const events = `
webhook:
  kind: { paths: type, words: { 'pay.*': deposit, 'pay.test': ignored } }
  record: data.object
  occurredAt: { paths: [sent, $.time], presence: optional }
record:`

test.each<[string, object, object]>([
  ['pay.done', {}, { kind: 'claim', claim: { source: 'webhook', serviceId: 'd1' } }],
  ['pay.test', {}, { kind: 'ignored' }],
  ['refund', {}, { kind: 'unknown_event', path: 'type', problem: 'unknown event refund' }],
  ['pay.done', { to: 'nowhere' }, { kind: 'schema_drift', path: 'data.object.to' }],
  ['pay.done', { state: 'lost' }, { kind: 'unknown_status', path: 'data.object.state' }],
])('an event of the kind %s', (type, changes, expected) => {
  const text = JSON.stringify({ type, data: { object: { ...document, ...changes } } })
  expect(readText({ '\nrecord:': events }, text, 'webhook')).toMatchObject(expected)
})

test('an event has a time of its own, or that of its record, or that of its receipt', () => {
  const data = { object: { ...document, at: '2026-01-01T00:00:02Z' } }
  const time = (more: object) =>
    readText({ '\nrecord:': events }, JSON.stringify({ type: 'pay.done', data, ...more }), 'webhook')
  expect(time({ sent: '2026-01-01T00:00:01Z' })).toMatchObject({
    claim: { occurredAt: new Date('2026-01-01T00:00:01Z') },
  })
  expect(time({})).toMatchObject({ claim: { occurredAt: new Date('2026-01-01T00:00:02Z') } })
  expect(time({ data: { object: document } })).toMatchObject({ claim: { occurredAt: receivedAt } })
})

test('kinds that are not listed are passed over where the profile says so, and without kinds all are of deposits', () => {
  const unlisted = { '\nrecord:': events.replace('record: data', 'unlisted: ignored\n  record: data') }
  const text = JSON.stringify({ type: 'refund', data: { object: document } })
  expect(readText(unlisted, text, 'webhook')).toMatchObject({ kind: 'ignored' })
  expect(readText({}, JSON.stringify(document), 'webhook')).toMatchObject({ kind: 'claim' })
})

test('a status may stand beside the record', () => {
  const lines = {
    '\nrecord:': events,
    'paths: state': 'paths: [$.type, state]',
    'done: settled': 'pay.done: settled',
  }
  const text = JSON.stringify({ type: 'pay.done', data: { object: { ...document, state: 'lost' } } })
  expect(readText(lines, text, 'webhook')).toMatchObject({ claim: { status: 'settled' } })
  expect(readText(lines, JSON.stringify({ ...document, state: 'doing' }))).toMatchObject({
    claim: { status: 'held' },
  })
})

const settlement = `
  settlement:
    network: { paths: out.net, otherwise: stable-wallet }
    address: { paths: out.to, presence: optional }
    asset: { paths: out.token, as: symbol }
    amount: { paths: out.amount, as: units }
    transaction: out.tx
    fee: { paths: out.fee, as: units }
`
const delivered = { net: 'arbitrum', to: recipient, token: 'USDC', amount: 3, tx: txId('out'), fee: 0.5 }

test.each<[string, unknown, object | null]>([
  ['nothing yet', undefined, null],
  [
    'a place, and nothing more',
    { net: 'arbitrum', to: recipient, token: 'USDC' },
    { network: 'arbitrum', amount: null, tx: null, fee: null },
  ],
  ['everything', delivered, { amount: 3_000_000n, fee: 500_000n, tx: txId('out') }],
  [
    'a credit',
    { to: 'w1', amount: 3 },
    { network: 'stable-wallet', address: 'w1', asset: 'stable-wallet/USDC', amount: 3_000_000n },
  ],
])('of a delivery: %s', (_what, out, expected) => {
  expect(read({ '    amount: amount\n': `    amount: amount${settlement}` }, { out })).toMatchObject({
    kind: 'claim',
    claim: { settlement: expected },
  })
})

test.each<[string, object, object]>([
  ['an unknown word', { state: 'gone' }, { value: 'gone', fix: 'add it to record.status.words' }],
  ['a missing path', { to: undefined }, { value: null, fix: /path/ }],
  ['a nested value', { to: { private: 'x' } }, { problem: 'is neither text nor a number', value: null }],
  ['a time', { at: 'noon' }, { problem: 'is no ISO 8601 time with a zone: noon', value: 'noon', fix: /as:/ }],
  ['an amount', { amount: '1.5' }, { problem: /base units.*6 decimals: 1\.5$/, value: '1.5', fix: /as:/ }],
  ['an address', { to: 'shop' }, { problem: 'is no address of base: shop', value: 'shop', fix: /path/ }],
  ['a network', { net: 'moon' }, { problem: 'unknown network moon', value: 'moon', fix: /networks/ }],
  ['an asset', { token: 'EURC' }, { problem: 'unknown asset EURC on base', value: 'EURC', fix: /assets/ }],
  ['an empty text', { net: '' }, { problem: 'is empty', value: null, fix: /absent/ }],
])('%s that cannot be read is shown with what to change', (_what, changes, expected) => {
  const matchers = Object.entries(expected).map(([name, value]) => [
    name,
    value instanceof RegExp ? expect.stringMatching(value) : value,
  ])
  expect(read({}, changes)).toMatchObject(Object.fromEntries(matchers))
})

test('of a value at most 40 characters are shown, none that cannot be stored, and no secret', () => {
  const long = `ab\u0000${'x'.repeat(36)}\u{1f600}${'y'.repeat(100)}`
  const shown = `ab\ufffd${'x'.repeat(36)}…`
  expect(read({}, { state: 'x'.repeat(40) })).toMatchObject({ value: 'x'.repeat(40) })
  expect(read({}, { state: `${'x'.repeat(38)}\u{1f600}` })).toMatchObject({
    value: `${'x'.repeat(38)}\u{1f600}`,
  })
  expect(read({}, { state: `${'x'.repeat(38)}\u{1f600}zz` })).toMatchObject({
    value: `${'x'.repeat(38)}\ufffd…`,
  })
  expect(read({}, { state: long })).toMatchObject({
    value: shown,
    problem: `holds characters that cannot be kept: ${shown}`,
  })
  for (const name of ['state', 'token', 'net', 'to', 'at', 'amount'])
    for (const length of [199, 999])
      expect(JSON.stringify(read({}, { [name]: 'x'.repeat(length) }))).not.toContain('x'.repeat(40))
  for (const path of ['headers.x', 'Authorization', 'auth.api_key', 'client_secret'])
    expect(
      read(
        { 'paths: state': `paths: ${path}` },
        { headers: { x: 'sk_1' }, Authorization: 'sk_1', auth: { api_key: 'sk_1' }, client_secret: 'sk_1' },
      ),
    ).toMatchObject({ problem: 'unknown status (hidden)', value: '(hidden)' })
})

test('an ignored payload says by which key and value', () => {
  const only = { '  status:': '  only: { side: [in] }\n  status:' }
  expect(read(only, { side: 'out' })).toEqual({
    kind: 'ignored',
    by: { key: 'record.only', path: 'side', value: 'out' },
  })
  expect(read(only)).toMatchObject({ by: { key: 'record.only', path: 'side', value: null } })
  expect(read({ 'done: settled': 'done: ignored' })).toMatchObject({
    by: { key: 'record.status.words', path: 'state', value: 'done' },
  })
  const data = { object: { ...document, side: 'out' } }
  const text = (type: string) => JSON.stringify({ type, data })
  const lines = { '\nrecord:': events, ...only }
  expect(readText(lines, text('pay.test'), 'webhook')).toMatchObject({
    by: { key: 'webhook.kind', path: 'type', value: 'pay.test' },
  })
  expect(readText(lines, text('pay.done'), 'webhook')).toMatchObject({
    by: { key: 'record.only', path: 'data.object.side', value: 'out' },
  })
})
