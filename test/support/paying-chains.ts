import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generateKeyPairSigner } from '@solana/kit'
import { pino } from 'pino'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import {
  type Address,
  assetKey,
  type NetworkName,
  type NetworkSettings,
  type TxId,
  toTxId,
} from '../../src/core/asset.ts'
import { startSolana } from '../../src/sandbox/solana/node.ts'
import { rich, startAnvil } from './anvil.ts'
import { evmSettings } from './evm-watch.ts'
import { openWallet } from './solana-wallet.ts'
import { deployToken } from './test-token.ts'
import { until } from './until.ts'

/** A real chain on which one payer pays a token. */
export type PayingChain = AsyncDisposable & {
  settings: NetworkSettings
  /** Who pays, in the spelling used for comparing. */
  payer: Address
  /** A new address that can be paid. */
  newAddress(): Promise<Address>
  pay(to: Address, amount: bigint): Promise<TxId>
  /** A transaction that is included, fails and moves nothing. */
  fail(to: Address): Promise<TxId>
  /** Waits until what was sent is final. */
  finalize(tx: TxId): Promise<void>
}

export async function startPayingAnvil(): Promise<PayingChain> {
  const anvil = await startAnvil()
  const token = await deployToken(anvil, 'USDC')
  await anvil.mine(4)
  return {
    settings: evmSettings(anvil, { tokens: [token.address] }),
    payer: rich.address.toLowerCase() as Address,
    newAddress: () => Promise.resolve(privateKeyToAddress(generatePrivateKey()).toLowerCase() as Address),
    pay: async (to, amount) => toTxId(await token.send(to as `0x${string}`, amount)),
    fail: async () => {
      const tx = await anvil.client.sendTransaction({ to: token.address, value: 1n, gas: 100_000n })
      return toTxId(tx)
    },
    finalize: () => anvil.mine(3),
    [Symbol.asyncDispose]: () => anvil.stop(),
  }
}

export async function startPayingSolana(): Promise<PayingChain> {
  const folder = await mkdtemp(join(tmpdir(), 'depositd-solana-'))
  const node = await startSolana({ folder, slotMs: 50, finalizedLag: 4, log: pino({ level: 'silent' }) })
  const wallet = await openWallet(node.url)
  const network = 'solana' as NetworkName
  const mint = wallet.mint as string as Address
  const accounts = new Map<Address, Awaited<ReturnType<typeof wallet.createAssociatedAccount>>>()
  const accountOf = (owner: Address) => {
    const account = accounts.get(owner)
    if (account === undefined) throw new Error('only new addresses of this chain are paid')
    return account
  }
  return {
    settings: {
      name: network,
      family: 'solana',
      chainId: null,
      rpcUrls: [node.url],
      assets: [{ key: assetKey(network, mint), network, symbol: 'USDC', decimals: 6 }],
    },
    payer: wallet.signer.address as string as Address,
    newAddress: async () => {
      const { address } = await generateKeyPairSigner()
      accounts.set(address as string as Address, await wallet.createAssociatedAccount(address))
      return address as string as Address
    },
    pay: async (to, amount) => toTxId(await wallet.payTokens(accountOf(to), amount)),
    fail: async (to) => toTxId(await wallet.sendFailing(to as never)),
    finalize: async (tx) => void (await until('finality', () => wallet.isFinal(tx))),
    async [Symbol.asyncDispose]() {
      await node.stop()
      await rm(folder, { recursive: true })
    },
  }
}
