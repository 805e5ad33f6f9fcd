import { expect, test } from 'vitest'
import { parseCaptures } from '../../../src/intake/detect/capture.ts'

const line = (capture: unknown) => JSON.stringify(capture)
const received_at = '2026-11-20T10:00:00Z'

test('a capture is read with its header names in lower case, and its body byte for byte', () => {
  const bytes = Buffer.from([0x7b, 0xff, 0x7d])
  const text = [
    line({ headers: { 'X-Id': 'a', Via: ['1', '2'] }, body: '{"é":1}', received_at }),
    '',
    line({ headers: {}, body_base64: bytes.toString('base64'), received_at, note: 'kept by a proxy' }),
    line({ headers: {}, body: '', received_at, method: 'POST', path: '/a?b' }),
  ].join('\r\n')
  expect(parseCaptures(text)).toEqual({
    captures: [
      {
        headers: { 'x-id': 'a', via: '1, 2' },
        body: Buffer.from('{"é":1}'),
        receivedAt: new Date(received_at),
      },
      { headers: {}, body: bytes, receivedAt: new Date(received_at) },
      {
        headers: {},
        body: Buffer.alloc(0),
        receivedAt: new Date(received_at),
        method: 'POST',
        path: '/a?b',
      },
    ],
    faults: [],
  })
})

test('a capture may be one document over several lines', () => {
  const text = JSON.stringify({ headers: {}, body: '{}', received_at }, null, 2)
  expect(parseCaptures(text)).toMatchObject({ captures: [{ headers: {} }], faults: [] })
})

test('every line that does not fit is named, with what is wrong about it', () => {
  const text = [
    'no JSON',
    line({ headers: {}, body: '{}', received_at: 'yesterday' }),
    line({ headers: { a: 1 }, body: '{}', received_at }),
    line({ headers: {}, body: '{}', body_base64: '', received_at }),
    line({ headers: {}, received_at }),
    line({ headers: {}, body_base64: '%', received_at }),
    line({ headers: {}, body: '', received_at, path: 'https://deposits.example/a' }),
    line({ headers: {}, body: '{}', received_at }),
  ].join('\n')
  const { captures, faults } = parseCaptures(text)
  expect(captures).toHaveLength(1)
  expect(faults).toEqual([
    'line 1: is no JSON object',
    'line 2: received_at: is no time like 2026-11-20T10:00:00Z',
    'line 3: headers.a: is no text and no list of texts',
    'line 4: give either body or body_base64',
    'line 5: give either body or body_base64',
    'line 6: body_base64: is no base64',
    'line 7: path: is no path like /webhooks/transfers?a=1',
  ])
})
