import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createKeyPairSignerFromPrivateKeyBytes,
  getAddressEncoder,
  type Address as KitAddress,
} from '@solana/kit'
import { pino } from 'pino'
import { privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createPayer } from '../../../src/chain/pay/payer.ts'
import { type Address, assetCode, type TxId } from '../../../src/core/asset.ts'
import { toAmount } from '../../../src/core/money.ts'
import { type Chains, type SandboxNetwork, startChains } from '../../../src/sandbox/chains.ts'
import { until } from '../../support/until.ts'

const seed = Buffer.alloc(32, 7)
const feeMax = toAmount(10n ** 15n)
const evmKey = seed.toString('hex')
const payees = {
  base: '0x00000000000000000000000000000000000000aa' as Address,
  solana: '8qbHbw2BbbTHBW1sbeqakYXVKRQM8Ne7pLK7m6CVfeR' as Address,
}

let folder: string
let chains: Chains
let wallets: Record<keyof typeof payees, { key: string; address: Address }>

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'depositd-payer-'))
  const log = pino({ level: 'silent' })
  chains = await startChains({ folder, names: ['base', 'solana'], blockMs: 200, slotMs: 100, log })
  const signer = await createKeyPairSignerFromPrivateKeyBytes(new Uint8Array(seed))
  const bytes = [...seed, ...publicBytes(signer.address)]
  wallets = {
    base: { key: `0x${evmKey}\n`, address: privateKeyToAddress(`0x${evmKey}`).toLowerCase() as Address },
    solana: { key: JSON.stringify(bytes), address: signer.address as string as Address },
  }
})
afterAll(async () => {
  await chains.stop()
  await rm(folder, { recursive: true, force: true })
})

/** The public half, as the file of a key has it behind the private one. */
function publicBytes(address: KitAddress): readonly number[] {
  return [...getAddressEncoder().encode(address)]
}

function networkOf(name: string): SandboxNetwork {
  const network = chains.networks.find((one) => one.name === name)
  if (network === undefined) throw new Error(`no network ${name}`)
  return network
}

describe.each(['base', 'solana'] as const)('on %s', (name) => {
  test.each(['native', 'token'])(
    'the %s arrives, and its transaction is told before it is sent',
    async (kind) => {
      const network = networkOf(name)
      const { key, address } = wallets[name]
      const native = network.assets.find((one) => assetCode(one.key) === 'native')
      const asset = network.assets.find((one) => (assetCode(one.key) === 'native') === (kind === 'native'))
      if (native === undefined || asset === undefined) throw new Error('no such asset')
      await network.fund(address, native.key, toAmount(10n ** BigInt(native.decimals)))
      if (kind === 'token') await network.fund(address, asset.key, toAmount(5_000_000n))
      const before = await network.balance(payees[name], asset.key)
      const amount = toAmount(2_000_000n)
      const reported: TxId[] = []
      const onSigned = async (tx: TxId) => {
        expect(await network.balance(payees[name], asset.key)).toBe(before)
        reported.push(tx)
      }
      await createPayer(network)({ asset, to: payees[name], amount }, { key, feeMax, onSigned })
      const [tx] = reported
      if (tx === undefined) throw new Error('no transaction was told')
      await until('the payment is in a block', () => network.landed(tx).catch(() => null))
      expect(await network.balance(payees[name], asset.key)).toBe(before + amount)
    },
  )

  test('a wallet without money pays nothing, and no transaction is told', async () => {
    const network = networkOf(name)
    const [asset] = network.assets.filter((one) => assetCode(one.key) !== 'native')
    if (asset === undefined) throw new Error('no such asset')
    const key = name === 'base' ? '9'.repeat(64) : await strangeKey()
    const reported: TxId[] = []
    const onSigned = (tx: TxId) => Promise.resolve(void reported.push(tx))
    const order = { asset, to: payees[name], amount: toAmount(1n) }
    await expect(createPayer(network)(order, { key, feeMax, onSigned })).rejects.toMatchObject({
      code: 'remote_failed',
    })
    expect(reported).toEqual([])
  })
})

test('what a node asks for more than the fee may be is not signed', async () => {
  const network = networkOf('base')
  const native = network.assets.find((one) => assetCode(one.key) === 'native')
  if (native === undefined) throw new Error('no such asset')
  const { key, address } = wallets.base
  await network.fund(address, native.key, toAmount(10n ** 18n))
  const order = { asset: native, to: payees.base, amount: toAmount(1n) }
  const reported: TxId[] = []
  const onSigned = (tx: TxId) => Promise.resolve(void reported.push(tx))
  const paying = createPayer(network)(order, { key, feeMax: toAmount(20_000n), onSigned })
  await expect(paying).rejects.toThrow('and feeMax is 0.00000000000002')
  expect(reported).toEqual([])
})

test('nothing is signed for a node of another chain', async () => {
  const network = { ...networkOf('base'), chainId: 1 }
  const [asset] = network.assets
  if (asset === undefined) throw new Error('no such asset')
  const order = { asset, to: payees.base, amount: toAmount(1n) }
  const reported: TxId[] = []
  const onSigned = (tx: TxId) => Promise.resolve(void reported.push(tx))
  await expect(
    createPayer(network)(order, { key: wallets.base.key, feeMax, onSigned }),
  ).rejects.toMatchObject({
    code: 'settings_bad',
  })
  expect(reported).toEqual([])
})

async function strangeKey(): Promise<string> {
  const bytes = Buffer.alloc(32, 9)
  const signer = await createKeyPairSignerFromPrivateKeyBytes(new Uint8Array(bytes))
  return JSON.stringify([...bytes, ...publicBytes(signer.address)])
}
