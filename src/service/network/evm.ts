import {
  BaseError,
  createPublicClient,
  erc20Abi,
  fallback,
  getAddress,
  http,
  type PublicClient,
  recoverTransactionAddress,
} from 'viem'
import type { NetworkSettings } from '../../chain/port.ts'
import { type Asset, assetCode } from '../../core/asset.ts'
import { Fault } from '../../core/errors.ts'
import { type Keyring, liquidityBranch } from '../keyring/keyring.ts'
import { describeError } from '../running/describe-error.ts'
import { createShare } from '../running/sharing.ts'
import { createBlockScanner } from './block-scan.ts'
import { draftEvm, type EvmWallet, gasLackEvm } from './evm-draft.ts'
import { readBalance } from './evm-funds.ts'
import { evmOutcome } from './evm-outcome.ts'
import { createPromises } from './evm-promises.ts'
import { redraftEvm } from './evm-redraft.ts'
import { evmSource, startEvm } from './evm-source.ts'
import type { NetworkClient } from './port.ts'

const timeoutMs = 10_000

/** An EVM network on which the keys of the keyring pay. */
export function openEvm(settings: NetworkSettings, keyring: Keyring): NetworkClient {
  const client: PublicClient = createPublicClient({
    transport: fallback(settings.rpcUrls.map((url) => http(url, { timeout: timeoutMs, retryCount: 1 }))),
    // Without it viem answers a height from memory for as long as it thinks a block takes.
    cacheTime: 0,
  })
  const liquidity = keyring.address('evm', liquidityBranch)
  const purse: EvmWallet = { client, settings, keyring, promises: createPromises(), share: createShare() }
  return {
    settings,
    check: () => checkEvm(client, settings),
    start: () => startEvm(client),
    scan: createBlockScanner(evmSource({ client, settings, liquidity })),
    draft: (order) => asFault(settings, draftEvm(purse, order)),
    gasLack: (order) => asFault(settings, gasLackEvm(purse, order)),
    redraft: (bytes, payer) => asFault(settings, redraftEvm(purse, bytes, payer)),
    send: async (bytes) => {
      const serializedTransaction = `0x02${Buffer.from(bytes.subarray(1)).toString('hex')}` as const
      purse.promises.note(await recoverTransactionAddress({ serializedTransaction }), serializedTransaction)
      await client.sendRawTransaction({ serializedTransaction })
    },
    nextNonce: async (branch) => {
      const { address } = keyring.evmAccount(branch)
      return BigInt(await client.getTransactionCount({ address, blockTag: 'latest' }))
    },
    outcome: ({ transaction }) => evmOutcome(purse, transaction),
    balance: (branch, asset) =>
      readBalance(client, keyring.evmAccount(branch).address, { asset, blockTag: 'latest' }),
  }
}

async function checkEvm(client: PublicClient, { name, chainId, assets }: NetworkSettings): Promise<void> {
  const actual = await client.getChainId()
  if (actual !== chainId) {
    throw new Fault('settings_bad', { faults: [`the RPC of ${name} serves chain ${actual}, not ${chainId}`] })
  }
  const problems = await Promise.all(assets.map((asset) => decimalsProblem(client, asset)))
  const faults = problems.filter((problem) => problem !== null)
  if (faults.length > 0) throw new Fault('settings_bad', { faults })
}

async function decimalsProblem(client: PublicClient, { key, decimals }: Asset): Promise<string | null> {
  const code = assetCode(key)
  if (code === 'native') return decimals === 18 ? null : `${key} has 18 decimals, not ${decimals}`
  const contract = { address: getAddress(code), abi: erc20Abi, functionName: 'decimals' } as const
  const actual = await client.readContract(contract)
  return actual === decimals ? null : `${key} has ${actual} decimals, not ${decimals}`
}

/** What a node refuses, and that it does not answer, is foreseen: whoever asked tries again later. */
async function asFault<Result>({ name }: NetworkSettings, asked: Promise<Result>): Promise<Result> {
  try {
    return await asked
  } catch (error) {
    if (!(error instanceof BaseError)) throw error
    const details = { what: `paying on ${name}`, problem: describeError(error) }
    throw new Fault('remote_failed', details, { cause: error })
  }
}
