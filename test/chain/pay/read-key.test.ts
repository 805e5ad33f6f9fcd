import { expect, test } from 'vitest'
import { readEvmKey, readSolanaKey } from '../../../src/chain/pay/read-key.ts'

const network = { name: 'base' as never }
const digits = 'Ab'.repeat(32)
const bytes = Array.from({ length: 64 }, (_, place) => place * 4)

test('a key of an EVM network is 64 hexadecimal digits', () => {
  expect(readEvmKey(`${digits}\n`, network)).toBe(`0x${digits}`)
  expect(readEvmKey(`0x${digits}`, network)).toBe(`0x${digits}`)
})

test('a key of Solana is a list of 64 bytes', () => {
  expect([...readSolanaKey(`${JSON.stringify(bytes)}\n`, network)]).toEqual(bytes)
})

test.each([
  '',
  'correct horse',
  `${digits}0`,
  '[1,2,3]',
  JSON.stringify([...bytes.slice(1), 256]),
  `{"k":"${digits}"}`,
])('%j is neither, and is not repeated', (text) => {
  for (const read of [readEvmKey, readSolanaKey]) {
    expect(() => read(text, network)).toThrow(
      'settings_bad: faults the key that is paid with on base is no private key',
    )
  }
})
