import { getProgramDerivedAddress, address as toSolana } from '@solana/kit'
import { expect, test } from 'vitest'
import type { Address, NetworkName } from '../../../src/core/asset.ts'
import { decidePolicy, knownSender, type OwnerPolicy } from '../../../src/service/deposits/policy.ts'

const someone = '0x00000000000000000000000000000000000000cc'
const other = '0x00000000000000000000000000000000000000dd'
const zero = `0x${'0'.repeat(40)}`
const onSolana = '4uQeVj5tqViQh7yWWGStvkEG1Zmhx6uasJtWCJziofM'
/** It has no key: off the curve. */
const vault = await vaultOf('11111111111111111111111111111111')
const usdc = { network: 'base', asset: 'USDC' }
const eth = { network: 'base', asset: 'ETH' }

/** Of 1000 base units of USDC on Base, from `someone` unless the case says otherwise. */
test.each<[string, OwnerPolicy, string | null, string]>([
  ['nothing', {}, someone, 'pass'],
  ['a hold of everything', { hold: true }, someone, 'hold policy_hold'],
  ['no hold', { hold: false }, someone, 'pass'],
  ['a hold, whatever else it says', { hold: true, otherwise: 'refund' }, someone, 'hold policy_hold'],
  ['a minimum below', { minimum_amounts: [{ ...usdc, amount: '999' }] }, someone, 'pass'],
  ['a minimum as high', { minimum_amounts: [{ ...usdc, amount: '1000' }] }, someone, 'pass'],
  ['a minimum above', { minimum_amounts: [{ ...usdc, amount: '1001' }] }, someone, 'hold below_minimum'],
  ['a minimum of another asset', { minimum_amounts: [{ ...eth, amount: '1001' }] }, someone, 'pass'],
  [
    'a minimum on another network',
    { minimum_amounts: [{ network: 'solana', asset: 'USDC', amount: '1001' }] },
    someone,
    'pass',
  ],
  ['the asset allowed', { assets: { allow: [eth, usdc] } }, someone, 'pass'],
  ['other assets allowed', { assets: { allow: [eth] } }, someone, 'hold asset_denied'],
  ['the asset denied', { assets: { deny: [usdc] } }, someone, 'hold asset_denied'],
  ['other assets denied', { assets: { deny: [eth] } }, someone, 'pass'],
  [
    'the sender allowed, in another case',
    { senders: { allow: [someone.toUpperCase().replace('X', 'x')] } },
    someone,
    'pass',
  ],
  ['others allowed', { senders: { allow: [other] } }, someone, 'hold sender_denied'],
  ['the sender denied', { senders: { deny: [other, someone] } }, someone, 'hold sender_denied'],
  ['others denied', { senders: { deny: [other, onSolana] } }, someone, 'pass'],
  ['a sender on Solana allowed', { senders: { allow: [onSolana] } }, onSolana, 'pass'],
  [
    'senders allowed, and the chain tells none',
    { senders: { allow: [someone] } },
    null,
    'hold sender_unknown',
  ],
  ['senders denied, and the chain tells none', { senders: { deny: [someone] } }, null, 'hold sender_unknown'],
  [
    'senders denied, and the coins were just made',
    { senders: { deny: [someone] } },
    zero,
    'hold sender_unknown',
  ],
  [
    'senders denied or refunded, and the chain tells none',
    { senders: { deny: [someone] }, otherwise: 'refund' },
    null,
    'hold sender_unknown',
  ],
  ['a minimum, and the chain tells no sender', { minimum_amounts: [] }, null, 'pass'],
  [
    'a refund of what is turned away',
    { assets: { deny: [usdc] }, otherwise: 'refund' },
    someone,
    `refund asset_denied ${someone}`,
  ],
  ['a refund, and nothing to turn away', { assets: { deny: [eth] }, otherwise: 'refund' }, someone, 'pass'],
  [
    'a refund to nobody known',
    { assets: { deny: [usdc] }, otherwise: 'refund' },
    null,
    'hold sender_unknown',
  ],
  [
    'a refund to a key on Solana',
    { assets: { deny: [usdc] }, otherwise: 'refund' },
    onSolana,
    `refund asset_denied ${onSolana}`,
  ],
  [
    'a refund to the vault of a program',
    { assets: { deny: [usdc] }, otherwise: 'refund' },
    vault,
    'hold sender_unknown',
  ],
  [
    'a hold of what is turned away',
    { assets: { deny: [usdc] }, otherwise: 'hold' },
    someone,
    'hold asset_denied',
  ],
])('a policy of %s', (...[, policy, sender, expected]) => {
  const deposit = {
    network: 'base' as NetworkName,
    asset: 'USDC',
    amount: '1000',
    sender: sender as Address | null,
  }
  const decision = decidePolicy(policy, deposit)
  const words = [
    decision.kind,
    ...('reason' in decision ? [decision.reason] : []),
    ...('to' in decision ? [decision.to] : []),
  ]
  expect(words.join(' ')).toBe(expected)
})

test('nobody is at the zero address, from which new coins come', () => {
  expect(knownSender({ sender: zero as Address })).toBeNull()
  expect(knownSender({ sender: someone as Address })).toBe(someone)
})

async function vaultOf(program: string): Promise<string> {
  const [derived] = await getProgramDerivedAddress({ programAddress: toSolana(program), seeds: ['vault'] })
  return derived
}
