import { expect, test } from 'vitest'
import { openVault } from '../../../src/service/webhooks/secrets.ts'
import { seed } from '../fixtures.ts'

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const place = { endpointId: 'wep_1', version: 1 }

test('opens what it sealed, and shows nothing of it before', () => {
  const vault = openVault(seed)
  const sealed = vault.seal(secret, place)
  expect(sealed.toString('latin1')).not.toContain('MfKQ9r8GKYqr')
  expect(vault.open(sealed, place)).toBe(secret)
  expect(openVault(seed).open(sealed, place), 'after a restart').toBe(secret)
})

test('the same secret sealed twice does not look the same', () => {
  const vault = openVault(seed)
  expect(vault.seal(secret, place).equals(vault.seal(secret, place))).toBe(false)
})

test('a secret does not open in another place, by another seed, or after a change of any byte', () => {
  const vault = openVault(seed)
  const sealed = vault.seal(secret, place)
  expect(() => vault.open(sealed, { ...place, endpointId: 'wep_2' })).toThrow(/authenticate/)
  expect(() => vault.open(sealed, { ...place, version: 2 })).toThrow(/authenticate/)
  expect(() => openVault('00'.repeat(32)).open(sealed, place)).toThrow(/authenticate/)
  for (const index of sealed.keys()) {
    const changed = Buffer.from(sealed)
    changed[index] = (changed[index] ?? 0) ^ 1
    expect(() => vault.open(changed, place)).toThrow(/authenticate/)
  }
})
