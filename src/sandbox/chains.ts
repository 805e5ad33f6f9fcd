import { join } from 'node:path'
import { createSolanaRpc } from '@solana/kit'
import type { Logger } from 'pino'
import type { NetworkSettings } from '../chain/port.ts'
import {
  type Address,
  type Asset,
  assetKey,
  type Family,
  type NetworkName,
  parseAddress,
} from '../core/asset.ts'
import { startAnvil } from './anvil.ts'
import { evmFaucet, nodeAccounts, stockPayer } from './evm-faucet.ts'
import { deployTokens, testTokens, tokenDecimals } from './evm-tokens.ts'
import type { Faucet } from './faucet.ts'
import { startSolana } from './solana/node.ts'
import { createMints, solanaFaucet, solanaGenesis, solanaSigners } from './solana-tokens.ts'

/** A local network as a reader wants it, and money on it. */
export type SandboxNetwork = NetworkSettings & Faucet

export type ChainsSettings = {
  /** Each network gets a folder in it. */
  folder: string
  /** Which networks to start; all four by default. */
  names?: readonly string[]
  /** Time between blocks and slots; near the real ones by default. */
  blockMs?: number
  slotMs?: number
  log: Logger
  onPart?: (part: StartedPart) => void
}

export type StartedPart = { part: string; address: string; milliseconds: number }

export type Chains = { networks: readonly SandboxNetwork[]; stop(): Promise<void> }

type Started = { network: SandboxNetwork; stop: () => Promise<void> }

/** Ports are the same on every start where they are free, so that a client's settings stay right. */
const evmNetworks = [
  { name: 'mainnet' as NetworkName, chainId: 1, port: 18_545 },
  { name: 'base' as NetworkName, chainId: 8453, port: 18_546 },
  { name: 'arbitrum' as NetworkName, chainId: 42_161, port: 18_547 },
]
const solana = { name: 'solana' as NetworkName, port: 18_899 }

/**
 * Starts the local networks beside each other, with the test tokens on them. Where one fails, none is left running.
 * @throws Fault `remote_failed`
 */
export async function startChains(settings: ChainsSettings): Promise<Chains> {
  const isWanted = ({ name }: { name: string }): boolean => settings.names?.includes(name) ?? true
  const outcomes = await Promise.allSettled([
    ...evmNetworks.filter(isWanted).map((network) => timed(settings, startEvm(settings, network))),
    ...[solana].filter(isWanted).map(() => timed(settings, startSolanaNetwork(settings))),
  ])
  const started = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
  const stop = async (): Promise<void> => {
    await Promise.all(started.map((one) => one.stop()))
  }
  const failure = outcomes.find((outcome) => outcome.status === 'rejected')
  if (failure !== undefined) {
    await stop()
    throw failure.reason
  }
  return { networks: started.map(({ network }) => network), stop }
}

async function timed({ onPart }: ChainsSettings, starting: Promise<Started>): Promise<Started> {
  const startedAt = performance.now()
  const started = await starting
  const { name, rpcUrls } = started.network
  onPart?.({
    part: name,
    address: rpcUrls[0] ?? '',
    milliseconds: Math.round(performance.now() - startedAt),
  })
  return started
}

async function startEvm(
  { folder, blockMs, log }: ChainsSettings,
  { name, chainId, port }: (typeof evmNetworks)[number],
): Promise<Started> {
  const pace = blockMs === undefined ? {} : { blockMs }
  const node = await startAnvil({ name, chainId, folder: join(folder, name), port, log, ...pace })
  try {
    const accounts = await nodeAccounts(node.client)
    const tokens = await deployTokens(node.client, accounts.deployer)
    await stockPayer(node.client, accounts, tokens)
    const assets = listAssets('evm', { name, native: { symbol: 'ETH', decimals: 18 }, tokens })
    const settings: NetworkSettings = { name, family: 'evm', chainId, rpcUrls: [node.url], assets }
    return { network: { ...settings, ...evmFaucet(node.client, accounts) }, stop: () => node.stop() }
  } catch (error) {
    await node.stop()
    throw error
  }
}

async function startSolanaNetwork({ folder, slotMs, log }: ChainsSettings): Promise<Started> {
  const { name, port } = solana
  const signers = await solanaSigners()
  const genesis = solanaGenesis(signers)
  const pace = slotMs === undefined ? {} : { slotMs }
  const node = await startSolana({ folder: join(folder, name), port, genesis, log, ...pace })
  try {
    const rpc = createSolanaRpc(node.url)
    await createMints(rpc, signers)
    const tokens = signers.mints.map(({ address }) => address)
    const assets = listAssets('solana', { name, native: { symbol: 'SOL', decimals: 9 }, tokens })
    const settings: NetworkSettings = { name, family: 'solana', chainId: null, rpcUrls: [node.url], assets }
    return { network: { ...settings, ...solanaFaucet(rpc, signers) }, stop: () => node.stop() }
  } catch (error) {
    await node.stop()
    throw error
  }
}

type Listed = {
  name: NetworkName
  native: Pick<Asset, 'symbol' | 'decimals'>
  /** In the order of the test tokens. */
  tokens: readonly string[]
}

function listAssets(family: Family, { name, native, tokens }: Listed): Asset[] {
  const addresses: Address[] = tokens.map((token) => parseAddress(family, token))
  return [
    { key: assetKey(name, 'native'), network: name, ...native },
    ...addresses.map((address, place) => ({
      key: assetKey(name, address),
      network: name,
      symbol: testTokens[place]?.symbol ?? '',
      decimals: tokenDecimals,
    })),
  ]
}
