import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { EnvironmentReader } from '../../src/config/environment.ts'
import { readOps } from '../../src/config/environment-settings.ts'
import { temporaryFolder } from '../support/folder.ts'

const token = '0123456789abcdef'

function read(environment: Record<string, string>) {
  const reader = new EnvironmentReader(environment)
  return { ops: readOps(reader), faults: reader.faults }
}

test.each(['127.0.0.1', '127.0.1.1', 'localhost', '::1'])('on %s no token is needed', (host) => {
  expect(read({ OPS_HOST: host })).toEqual({ ops: { host, port: 9464, token: null }, faults: [] })
})

test.each(['0.0.0.0', '::', '10.0.0.1', 'localhost.example', '127.0.0.1.example', '::ffff:10.0.0.1'])(
  'on %s one is, and what is wrong says how to make it',
  (host) => {
    expect(read({ OPS_HOST: host }).faults).toEqual([
      `OPS_TOKEN is missing, and OPS_HOST is ${host}: set OPS_TOKEN_FILE to a file with a secret (openssl rand -hex 24), or OPS_HOST to 127.0.0.1`,
    ])
    expect(read({ OPS_HOST: host, OPS_TOKEN: token })).toMatchObject({ ops: { token }, faults: [] })
  },
)

test('it comes from a file, too', async () => {
  const path = join(await temporaryFolder(), 'token')
  writeFileSync(path, `${token}\n`)
  expect(read({ OPS_HOST: '0.0.0.0', OPS_TOKEN_FILE: path })).toMatchObject({ ops: { token }, faults: [] })
})

test.each([
  ['', 'OPS_TOKEN is empty'],
  ['short', 'OPS_TOKEN must have at least 16 characters, or it could be guessed'],
  [`${token} ${token}`, 'OPS_TOKEN must be printable ASCII without blanks'],
  [`${token}ü`, 'OPS_TOKEN must be printable ASCII without blanks'],
])('a token that is %j is a fault, and is not repeated', (text, fault) => {
  expect(read({ OPS_TOKEN: text }).faults).toEqual([fault])
})
