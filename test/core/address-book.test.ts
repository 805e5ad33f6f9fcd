import { expect, test } from 'vitest'
import {
  conflictsOf,
  contradictionsOf,
  type HeldAddress,
  type OwnerEntry,
  type StatedOwner,
} from '../../src/core/address-book.ts'
import type { Address, NetworkName, NetworkSettings } from '../../src/core/asset.ts'
import { arbitrum, base, channelAddress, recipient, walletAddress } from '../support/evidence.ts'

const owner = { kind: 'channel', id: 'shop' } as const
const wallet = { kind: 'stable_wallet', id: 'savings' } as const
const forward = { network: arbitrum, asset: 'USDC', recipient }
const entry: OwnerEntry = { owner, deposits: [{ network: base, address: channelAddress }], forward }
const networks = [base, arbitrum, 'solana' as NetworkName].map(
  (name): NetworkSettings => ({
    name,
    family: name === 'solana' ? 'solana' : 'evm',
    chainId: null,
    rpcUrls: [],
    assets: [],
  }),
)
const other = `0x${'AB'.repeat(20)}`
const lower = other.toLowerCase() as Address

const stated = (changes: Partial<StatedOwner>): StatedOwner => ({
  owner,
  deposits: [],
  forward: null,
  ...changes,
})
const at = (network: string, address: string) => ({ deposits: [{ network, address }] })

test.each<[string, Partial<StatedOwner>, Partial<OwnerEntry>, string[]]>([
  ['nothing is stated', {}, {}, []],
  ['the address, in another case', at('base', channelAddress.toUpperCase().replace('0X', '0x')), {}, []],
  ['another address', at('base', other), {}, [`address: base ${channelAddress}, base ${lower}`]],
  [
    'one of two addresses',
    at('base', other),
    { deposits: [...entry.deposits, { network: base, address: lower }] },
    [],
  ],
  ['an address on another network', at('arbitrum', other), {}, []],
  [
    'what is no address',
    at('base', 'x'.repeat(200)),
    {},
    [`address: base ${channelAddress}, base ${'x'.repeat(100)}`],
  ],
  ['the rule', { forward }, {}, []],
  ['no rule where none is approved', { forward }, { forward: null }, []],
  [
    'another recipient, and another address',
    { ...at('base', other), forward: { ...forward, recipient: other } },
    {},
    [`address: base ${channelAddress}, base ${lower}`, `recipient: arbitrum ${recipient}, arbitrum ${lower}`],
  ],
  [
    'a recipient on a network that nobody knows',
    { forward: { ...forward, network: 'moon', recipient: other } },
    {},
    [`recipient: arbitrum ${recipient}, moon ${other}`],
  ],
])('an owner is compared with the address book: %s', (_what, ...[claim, approved, wanted]) => {
  const found = contradictionsOf({ ...entry, ...approved }, stated(claim), networks)
  expect(found.map(({ what, approved: own, stated: said }) => `${what}: ${own}, ${said}`)).toEqual(wanted)
})

const holds = (address: Address, by: HeldAddress['owner'], network = base): HeldAddress => ({
  network,
  address,
  owner: by,
})

test.each<[string, Partial<OwnerEntry>, HeldAddress[], (string | null)[][]]>([
  ['the same again', {}, [holds(channelAddress, owner)], []],
  ['without holders', {}, [], []],
  [
    'of another owner',
    {},
    [
      holds(walletAddress, { ...owner, id: 'x' }),
      holds(channelAddress, { ...owner, id: 'y' }, arbitrum),
      holds(channelAddress, wallet),
    ],
    [['base', `${channelAddress} on base belongs to stable wallet savings`]],
  ],
  [
    'of another kind with the same id',
    {},
    [holds(channelAddress, { ...wallet, id: 'shop' })],
    [['base', `${channelAddress} on base belongs to stable wallet shop`]],
  ],
  [
    'with another address on the network',
    {
      deposits: [
        { network: arbitrum, address: walletAddress },
        { network: base, address: lower },
      ],
    },
    [],
    [['base', `channel shop has ${lower} on base, not ${channelAddress}`]],
  ],
  [
    'without a rule',
    { forward: null },
    [],
    [[null, `channel shop forwards nowhere, not USDC to ${recipient} on arbitrum`]],
  ],
  [
    'with another rule',
    { forward: { ...forward, recipient: walletAddress } },
    [],
    [
      [
        null,
        `channel shop forwards USDC to ${walletAddress} on arbitrum, not USDC to ${recipient} on arbitrum`,
      ],
    ],
  ],
])('an entry conflicts with what is stored: %s', (_what, ...[changes, holders, wanted]) => {
  const found = conflictsOf(entry, { ...entry, ...changes }, holders)
  expect(found.map(({ network, problem }) => [network, problem])).toEqual(wanted)
  for (const one of found) expect(one.owner).toEqual(owner)
})
