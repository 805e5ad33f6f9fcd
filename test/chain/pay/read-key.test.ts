import { expect, test } from 'vitest'
import { readKey } from '../../../src/chain/pay/read-key.ts'

const evm = { name: 'base' as never, family: 'evm' } as const
const solana = { name: 'base' as never, family: 'solana' } as const
const digits = 'Ab'.repeat(32)
const bytes = Array.from({ length: 64 }, (_, place) => place * 4)

test('a key of an EVM network is 64 hexadecimal digits', () => {
  const key = Array.from({ length: 32 }, () => 0xab)
  expect([...readKey(`${digits}\n`, evm)]).toEqual(key)
  expect([...readKey(`0x${digits}`, evm)]).toEqual(key)
})

test('a key of Solana is a list of 64 bytes', () => {
  expect([...readKey(`${JSON.stringify(bytes)}\n`, solana)]).toEqual(bytes)
})

test.each([
  '',
  'correct horse',
  `${digits}0`,
  '[1,2,3]',
  JSON.stringify([...bytes.slice(1), 256]),
  `{"k":"${digits}"}`,
])('%j is neither, and is not repeated', (text) => {
  for (const network of [evm, solana]) {
    expect(() => readKey(text, network)).toThrow(
      'settings_bad: faults the key that is paid with on base is no private key',
    )
  }
})
