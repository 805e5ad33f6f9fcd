import { expect, test } from 'vitest'
import {
  codeOf,
  Fault,
  fixOf,
  isFault,
  lineOf,
  messageOf,
  problemOf,
  shorten,
} from '../../src/core/errors.ts'

const advice = { problem: 'no such file', fix: 'name another' }
const withCode = (message: string, code: string) => Object.assign(new Error(message), { code })

test.each<[Error, { message: string; problem: string; fix?: string }]>([
  ...(['usage_bad', 'not_found', 'schema_unknown'] as const)
    .map(
      (code) =>
        [
          new Fault(code, advice),
          { message: `${code}: problem "no such file", fix "name another"`, ...advice },
        ] as const,
    )
    .map(([fault, wanted]): [Error, typeof wanted] => [fault, wanted]),
  [
    new Fault('history_lost', { network: 'base', ...advice }),
    { message: 'history_lost: network "base", problem "no such file", fix "name another"', ...advice },
  ],
  [
    new Fault('settings_bad', { faults: ['a is missing', 'b is bad'] }),
    { message: 'settings_bad: faults a is missing; b is bad', problem: 'a is missing\n  b is bad' },
  ],
  [
    new Fault('settings_bad', { faults: ['a is missing'], fix: 'set a' }),
    { message: 'settings_bad: faults a is missing, fix "set a"', problem: 'a is missing', fix: 'set a' },
  ],
  [
    new Fault('remote_failed', { what: 'the API', problem: 'no answer' }),
    { message: 'remote_failed: what "the API", problem "no answer"', problem: 'the API: no answer' },
  ],
  [
    new Fault('request_refused', { status: 400, reason: 'bad', problem: 'no', errors: [{ detail: 'x' }] }),
    {
      message: 'request_refused: status 400, reason "bad", problem "no", errors {"detail":"x"}',
      problem: 'request_refused: status 400, reason "bad", problem "no", errors {"detail":"x"}',
    },
  ],
])('%s is shown with its problem and its fix', (fault, { message, problem, fix }) => {
  expect([fault.message, messageOf(fault), problemOf(fault)]).toEqual([message, message, problem])
  expect(fixOf(fault)).toBe(fix ?? null)
  expect(lineOf(fault)).toBe(fix === undefined ? problem : `${problem}; ${fix}`)
  const code = message.slice(0, message.indexOf(':'))
  expect([fault.name, codeOf(fault)]).toEqual(['Fault', code])
  expect([isFault(fault, 'usage_bad'), isFault(fault, 'lease_lost')]).toEqual([code === 'usage_bad', false])
})

test.each<[unknown, string]>([
  ['a text', 'a text'],
  [new Error('no'), 'no'],
  [new AggregateError([new Error('one'), 'other']), 'one; other'],
  [new AggregateError([new Error('one')], 'both failed'), 'both failed'],
  [withCode('refused', 'ECONNREFUSED'), 'refused'],
  [withCode('refused', 'CERT_HAS_EXPIRED'), 'refused: renew the certificate of that server'],
  [
    new Error('The server does not support SSL connections'),
    'The server does not support SSL connections: sslmode in its URL requires TLS: enable ssl on the server, or omit sslmode on a private network',
  ],
])('%s is shown in one line', (error, line) => {
  expect([messageOf(error), problemOf(error), lineOf(error)]).toEqual([line, line, line])
  expect([fixOf(error), codeOf(error), isFault(error, 'usage_bad')]).toEqual([null, null, false])
})

test.each([
  ['as long as it may be', 20, 'as long as it may be'],
  ['a secret word', 12, 'a secret … (13 characters)'],
  ['{"token":"secret"}', 14, '{"token":"… (18 characters)'],
  ['a line\nsecret', 10, 'a line\n… (13 characters)'],
  ['x'.repeat(301), 300, `${'x'.repeat(100)}… (301 characters)`],
])('%j is cut at %d characters', (text, lengthMax, shown) => {
  expect(shorten(text, lengthMax)).toBe(shown)
})
