import { expect, test } from 'vitest'
import { ed25519PublicKey } from '../../../src/outbox/signing-key.ts'
import {
  deriveEd25519,
  liquidityAddresses,
  openKeyring,
  seedBytes,
  showAddress,
} from '../../../src/service/keyring/keyring.ts'

const zooless =
  'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about'

/** SLIP-0010, test vectors 1 and 2 for ed25519; their public keys carry a leading zero byte. */
test.each([
  [
    '000102030405060708090a0b0c0d0e0f',
    [],
    '2b4be7f19ee27bbf30c667b642d5f4aa69fd169872f8fc3059c08ebae2eb19e7',
    'a4b2856bfec510abab89753fac1ac0e1112364e7d250545963f135f2a33188ed',
  ],
  [
    '000102030405060708090a0b0c0d0e0f',
    [0],
    '68e0fe46dfb67e368c75379acec591dad19df3cde26e63b93a8e704f1dade7a3',
    '8c8a13df77a28f3445213a0f432fde644acaa215fc72dcdf300d5efaa85d350c',
  ],
  [
    '000102030405060708090a0b0c0d0e0f',
    [0, 1, 2, 2, 1_000_000_000],
    '8f94d394a8e8fd6b1bc2f3f49f5c47e385281d5c17e65324b0f62483e37e8793',
    '3c24da049451555d51a7014a37337aa4e12d41e485abccfa46b47dfb2af54b7a',
  ],
  [
    'fffcf9f6f3f0edeae7e4e1dedbd8d5d2cfccc9c6c3c0bdbab7b4b1aeaba8a5a29f9c999693908d8a8784817e7b7875726f6c696663605d5a5754514e4b484542',
    [],
    '171cb88b1b3c1db25add599712e36245d75bc65a1a5c9e18d76f9f2b1eab4012',
    '8fe9693f8fa62a4305a140b9764c5ee01e455963744fe18204b4fb948249308a',
  ],
  [
    'fffcf9f6f3f0edeae7e4e1dedbd8d5d2cfccc9c6c3c0bdbab7b4b1aeaba8a5a29f9c999693908d8a8784817e7b7875726f6c696663605d5a5754514e4b484542',
    [0, 2_147_483_647, 1, 2_147_483_646, 2],
    '551d333177df541ad876a60ea71f00447931c0a9da16f227c11ea080d7391b8d',
    '47150c75db263559a70d5778bf36abbab30fb061ad69f69ece61a72b0cfa4fc0',
  ],
])('derives the published SLIP-0010 keys of %s at %j', (...[seed, path, privateKey, publicKey]) => {
  const key = deriveEd25519(Buffer.from(seed, 'hex'), path)
  expect(key.toString('hex')).toBe(privateKey)
  expect(ed25519PublicKey(key).toString('hex')).toBe(publicKey)
})

test('the branches of a published mnemonic have its published BIP-44 addresses', () => {
  const keyring = openKeyring('test test test test test test test test test test test junk')
  expect([0, 1, 2, 9].map((branch) => showAddress('evm', keyring.address('evm', branch)))).toEqual([
    '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
    '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
    '0xa0Ee7A142d267C1f36714E4a8F75612F20a79720',
  ])
  expect(keyring.evmAccount(9).address, 'and its signers too').toBe(
    '0xa0Ee7A142d267C1f36714E4a8F75612F20a79720',
  )
})

test('reads the published BIP-39 mnemonic as its seed and its first BIP-44 addresses', () => {
  expect(seedBytes(zooless).toString('hex')).toMatch(/^5eb00bbddcf069084889a8ab9155568165f5c453/)
  expect(liquidityAddresses({ seed: zooless })).toEqual({
    evm: '0x9858EfFD232B4033E47d90003D41EC34EcaEda94',
    solana: 'HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk',
  })
})

test('a seed in hexadecimal is the same seed as its mnemonic', () => {
  const hexadecimal = seedBytes(zooless).toString('hex')
  expect(liquidityAddresses({ seed: hexadecimal })).toEqual(liquidityAddresses({ seed: zooless }))
})

test.each([
  ['a mistyped last word', zooless.replace(/about$/, 'above')],
  ['a word that is not in the list', zooless.replace('about', 'aboutt')],
  ['eleven words', zooless.replace('abandon ', '')],
  ['hexadecimal of half a byte', 'a'.repeat(33)],
  ['too little of it', 'ab'.repeat(15)],
  ['nothing', ''],
])('refuses %s, and shows nothing of it', (_what, seed) => {
  const attempt = (): Buffer => seedBytes(seed)
  expect(attempt).toThrow('settings_bad')
  expect(attempt).not.toThrow(/aban|abo|abab|aaa/)
})

test('branches have different addresses, the same ones every time', async () => {
  const keyrings = [openKeyring(zooless), openKeyring(zooless)]
  const addresses = keyrings.map((keyring) =>
    [0, 1, 2].flatMap((branch) => [keyring.address('evm', branch), keyring.address('solana', branch)]),
  )
  expect(addresses[0]).toEqual(addresses[1])
  expect(new Set(addresses[0]).size).toBe(6)
  const signers = await Promise.all([0, 1].map((branch) => openKeyring(zooless).solanaSigner(branch)))
  expect(signers.map(({ address }) => address)).toEqual([addresses[0]?.[1], addresses[0]?.[3]])
})
