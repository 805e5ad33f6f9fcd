import { createPublicClient, erc20Abi, fallback, getAddress, type Hex, http, type PublicClient } from 'viem'
import type { NetworkSettings } from '../../chain/port.ts'
import { type Asset, type AssetKey, assetCode } from '../../core/asset.ts'
import { Fault } from '../../core/errors.ts'
import type { Keyring } from '../keyring/keyring.ts'
import { draftEvmForward, evmOutcome } from './evm-forward.ts'
import { scanEvm, startEvm } from './evm-scan.ts'
import type { Network } from './port.ts'

const timeoutMs = 10_000

/** An EVM network on which the keys of the keyring pay. */
export function openEvm(settings: NetworkSettings, keyring: Keyring): Network {
  const client: PublicClient = createPublicClient({
    transport: fallback(settings.rpcUrls.map((url) => http(url, { timeout: timeoutMs, retryCount: 1 }))),
    // Without it viem answers a height from memory for as long as it thinks a block takes.
    cacheTime: 0,
  })
  return {
    settings,
    check: () => checkEvm(client, settings),
    start: () => startEvm(client),
    scan: (position, watched) => scanEvm({ client, settings }, position, watched),
    draft: (order) => draftEvmForward({ client, settings, keyring }, order),
    gasLack: () => Promise.resolve(0n),
    redraft: () => Promise.resolve(null),
    send: async (bytes) => {
      await client.sendRawTransaction({ serializedTransaction: `0x${Buffer.from(bytes).toString('hex')}` })
    },
    nextNonce: async (branch) => {
      const { address } = keyring.evmAccount(branch)
      return BigInt(await client.getTransactionCount({ address, blockTag: 'latest' }))
    },
    outcome: ({ transaction }) => evmOutcome(client, transaction),
    balance: (branch, asset) => balanceOf(client, keyring.evmAccount(branch).address, asset),
  }
}

function balanceOf(client: PublicClient, address: Hex, asset: AssetKey): Promise<bigint> {
  const code = assetCode(asset)
  if (code === 'native') return client.getBalance({ address, blockTag: 'latest' })
  const contract = { address: getAddress(code), abi: erc20Abi, blockTag: 'latest' } as const
  return client.readContract({ ...contract, functionName: 'balanceOf', args: [address] })
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
