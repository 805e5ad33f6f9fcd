import { expect, test } from 'vitest'
import { parseSettingsFile } from '../../src/config/settings-file.ts'

const withIssuer = (issuer: string, roles = 'finance: [accountant]') =>
  parseSettingsFile(`signIn: { openId: { issuer: '${issuer}', clientId: depositd, roles: { ${roles} } } }`)

test('a sign-in provider is reached by HTTPS, except on this machine', () => {
  for (const issuer of ['https://login.example', 'http://localhost:4000', 'http://127.0.0.1:4000'])
    expect(withIssuer(issuer).faults).toEqual([])
  expect(withIssuer('http://login.example').faults).toEqual([
    'line 1, signIn.openId.issuer: must be an address of the form https://, except on loopback',
  ])
})

test('a role that does not exist is refused', () => {
  expect(withIssuer('https://login.example', 'finance: [boss]').faults).toEqual([
    expect.stringContaining('signIn.openId.roles.finance'),
  ])
})
