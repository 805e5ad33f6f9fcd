import { createHash, createHmac, ECDH, pbkdf2Sync } from 'node:crypto'
import { createKeyPairSignerFromPrivateKeyBytes, getAddressDecoder, type KeyPairSigner } from '@solana/kit'
import { getAddress, type Hex, keccak256, slice, toHex } from 'viem'
import { english, HDKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { type Address, type Family, parseAddress } from '../../core/asset.ts'
import { assert, Fault } from '../../core/errors.ts'
import { ed25519PublicKey } from '../../outbox/signing-key.ts'

/** By branch of the seed. Addresses are in canonical spelling. */
export type Keyring = {
  address(family: Family, branch: number): Address
  evmAccount(branch: number): PrivateKeyAccount
  solanaSigner(branch: number): Promise<KeyPairSigner>
}

export const liquidityBranch = 0

/**
 * BIP-44 on EVM networks (`m/44'/60'/0'/0/branch`), SLIP-10 on Solana (`m/44'/501'/branch'/0'`).
 * @throws Fault `settings_bad` if the seed is invalid
 */
export function openKeyring(seed: string): Keyring {
  const bytes = seedBytes(seed)
  const evmParent = HDKey.fromMasterSeed(bytes).derive("m/44'/60'/0'/0")
  const evmAccount = remembered((branch): PrivateKeyAccount => {
    const { privateKey } = evmParent.deriveChild(branch)
    assert(privateKey !== null, 'a private parent has private children')
    return privateKeyToAccount(toHex(privateKey))
  })
  const solanaKey = (branch: number): Buffer => deriveEd25519(bytes, [44, 501, branch, 0])
  return {
    evmAccount,
    solanaSigner: remembered((branch) => createKeyPairSignerFromPrivateKeyBytes(solanaKey(branch))),
    address: (family, branch) =>
      parseAddress(
        family,
        family === 'evm'
          ? evmAddress(evmParent.deriveChild(branch))
          : getAddressDecoder().decode(ed25519PublicKey(solanaKey(branch))),
      ),
  }
}

const rememberedMax = 1000

/** Derivation takes a millisecond, and paying keys are soon used again. */
function remembered<Key>(derive: (branch: number) => Key): (branch: number) => Key {
  const keys = new Map<number, Key>()
  return (branch) => {
    const key = keys.get(branch) ?? derive(branch)
    if (keys.size >= rememberedMax) keys.clear()
    keys.set(branch, key)
    return key
  }
}

/** The last 20 bytes of the hash of the public key. No signer is created, because many addresses are handed out. */
function evmAddress({ publicKey }: HDKey): Hex {
  assert(publicKey !== null, 'a derived key has its public part')
  const whole = ECDH.convertKey(publicKey, 'secp256k1', undefined, 'hex', 'uncompressed')
  // The first byte marks an uncompressed point.
  return slice(keccak256(`0x${whole.toString().slice(2)}`), -20)
}

export function liquidityAddresses({ seed }: { seed: string }): Record<Family, string> {
  const keyring = openKeyring(seed)
  return {
    evm: showAddress('evm', keyring.address('evm', liquidityBranch)),
    solana: showAddress('solana', keyring.address('solana', liquidityBranch)),
  }
}

/** EIP-55 for EVM, unchanged for Solana. */
export function showAddress(family: Family, address: string): string {
  return family === 'evm' ? getAddress(address) : address
}

/**
 * 16 to 64 bytes in hexadecimal, or an English BIP-39 mnemonic with a valid checksum: a mistyped word would be another
 * wallet. Errors never contain the seed.
 * @throws Fault `settings_bad`
 */
export function seedBytes(text: string): Buffer {
  const trimmed = text.trim()
  if (/^(?:[0-9a-f]{2}){16,64}$/i.test(trimmed)) return Buffer.from(trimmed, 'hex')
  const words = trimmed.toLowerCase().split(/\s+/)
  if (!isMnemonic(words)) {
    const fault =
      'the seed is neither 16 to 64 bytes in hexadecimal nor a BIP-39 mnemonic with a valid checksum'
    throw new Fault('settings_bad', { faults: [fault] })
  }
  return pbkdf2Sync(words.join(' '), 'mnemonic', 2048, 64, 'sha512')
}

/** 11 bits a word. One bit in 33 is checksum, taken from the SHA-256 of the entropy. */
function isMnemonic(words: readonly string[]): boolean {
  if (![12, 15, 18, 21, 24].includes(words.length)) return false
  const indexes = words.map((word) => english.indexOf(word))
  if (indexes.includes(-1)) return false
  const bits = indexes.map((index) => index.toString(2).padStart(11, '0')).join('')
  const checksumLength = words.length / 3
  const entropy = bits.slice(0, -checksumLength).match(/.{8}/g) ?? []
  const hash = createHash('sha256').update(Uint8Array.from(entropy, (byte) => Number(`0b${byte}`)))
  const expected = (hash.digest()[0] ?? 0).toString(2).padStart(8, '0').slice(0, checksumLength)
  return bits.endsWith(expected)
}

type ExtendedKey = { key: Buffer; chainCode: Buffer }

const hardened = 0x80000000

/** SLIP-0010; ed25519 supports only hardened steps. `[44, 501, 3, 0]` is `m/44'/501'/3'/0'`. */
export function deriveEd25519(seed: Uint8Array, path: readonly number[]): Buffer {
  const master = split(createHmac('sha512', 'ed25519 seed').update(seed).digest())
  return path.reduce(child, master).key
}

function child({ key, chainCode }: ExtendedKey, step: number): ExtendedKey {
  const data = Buffer.alloc(37)
  key.copy(data, 1)
  data.writeUInt32BE(hardened + step, 33)
  return split(createHmac('sha512', chainCode).update(data).digest())
}

function split(digest: Buffer): ExtendedKey {
  return { key: digest.subarray(0, 32), chainCode: digest.subarray(32) }
}
