import { expect, test } from 'vitest'
import { readDestination } from '../../src/address/destination.ts'
import { unreachableNetworks } from '../service/fixtures.ts'

function networkOf(name: string) {
  const network = unreachableNetworks.find((candidate) => candidate.name === name)
  if (network === undefined) throw new Error(`the fixtures have no ${name}`)
  return network
}

/** EIP-55, https://eips.ethereum.org/EIPS/eip-55: the mixed ones of its test cases. */
const checksummed = [
  '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
  '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
] as const

test.each<[string, string]>([
  ...checksummed.map((text) => ['base', text] satisfies [string, string]),
  ...checksummed.map((text) => ['mainnet', text.toLowerCase()] satisfies [string, string]),
  ['base', '0x00000000000000000000000000000000000000ff'],
  ['solana', 'vines1vzrYbzLMRdu58ou5XTby4qAqVRLmqo36NKPTg'],
])('on %s, %s may be paid', (name, text) => {
  const address = name === 'solana' ? text : text.toLowerCase()
  expect(readDestination(networkOf(name), text)).toEqual({ kind: 'valid', address })
})

test('an address off the curve may be paid: a program can hold funds', () => {
  // The associated token account of a mint and an owner, as any program derives addresses that have no key.
  const offCurve = 'GZVSEAajExLJEvACHHQcujBw7nJq98GWUEZtood9LM9b'
  expect(readDestination(networkOf('solana'), offCurve)).toMatchObject({ kind: 'valid' })
})

test.each([
  ['base', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1Beaed', 'wrong checksum'],
  ['base', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAe', '40 hexadecimal digits'],
  ['base', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed0', '40 hexadecimal digits'],
  ['base', '5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', '40 hexadecimal digits'],
  ['base', '0X5aaeb6053f3e94c9b9a09f33669435e7ef1beaed', '40 hexadecimal digits'],
  ['base', 'shop.eth', '40 hexadecimal digits'],
  ['base', 'vines1vzrYbzLMRdu58ou5XTby4qAqVRLmqo36NKPTg', '40 hexadecimal digits'],
  ['base', `0x${'0'.repeat(40)}`, 'zero address'],
  ['base', '0x0000000000000000000000000000000000000001', 'precompiled'],
  ['base', '0x0000000000000000000000000000000000000100', 'precompiled'],
  ['base', '0x1111111111111111111111111111111111111111', 'the contract or mint of USDC on base'],
  ['solana', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', '32 bytes in base58'],
  ['solana', 'vines1vzrYbzLMRdu58ou5XTby4qAqVRLmqo36NKP', '32 bytes in base58'],
  ['solana', 'vines1vzrYbzLMRdu58ou5XTby4qAqVRLmqo36NKPT0', '32 bytes in base58'],
  ['solana', '1'.repeat(32), 'an account of the solana runtime'],
  ['solana', 'SysvarC1ock11111111111111111111111111111111', 'an account of the solana runtime'],
  ['solana', '1nc1nerator11111111111111111111111111111111', 'an account of the solana runtime'],
  ['solana', 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA', 'a program or a mint'],
  ['solana', 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb', 'a program or a mint'],
  ['solana', 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', 'the contract or mint of USDC on solana'],
])('on %s, nothing is sent to %s', (name, text, problem) => {
  const destination = readDestination(networkOf(name), text)
  expect(destination).toEqual({ kind: 'invalid', problem: expect.stringContaining(problem) })
})
