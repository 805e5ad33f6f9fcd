import { join } from 'node:path'
import { createSolanaRpc } from '@solana/kit'
import type { Logger } from 'pino'
import { startAnvil } from './anvil.ts'
import { deployTokens, nodeAccounts, stockPayer } from './evm-faucet.ts'
import { evmNetwork, evmNetworks, type SandboxNetwork, solana, solanaNetwork } from './local-networks.ts'
import { startSolana } from './solana/node.ts'
import { createMints, solanaGenesis, solanaSigners } from './solana-faucet.ts'

export type { SandboxNetwork } from './local-networks.ts'

export type ChainsSettings = {
  folder: string
  names?: readonly string[]
  /** Close to the real networks by default. */
  blockMs?: number
  slotMs?: number
  /** Of EVM networks: the time of the first block of a new chain. */
  startAt?: Date
  /** By default networks take any free ports. */
  usualPorts?: boolean
  log: Logger
  onPart?: OnPart
}

export type Chains = { networks: readonly SandboxNetwork[]; stop(): Promise<void> }

type RunningNetwork = { network: SandboxNetwork; stop: () => Promise<void> }

/**
 * If one fails, all are stopped.
 * @throws Fault `remote_failed`
 */
export async function startChains(settings: ChainsSettings): Promise<Chains> {
  const isWanted = ({ name }: { name: string }): boolean => settings.names?.includes(name) ?? true
  const outcomes = await Promise.allSettled([
    ...evmNetworks
      .filter(isWanted)
      .map((network) => report(settings, network.name, () => startEvm(settings, network))),
    ...[solana].filter(isWanted).map(() => report(settings, solana.name, () => startSolanaNetwork(settings))),
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

function report(
  { onPart = () => undefined }: ChainsSettings,
  name: string,
  start: () => Promise<RunningNetwork>,
): Promise<RunningNetwork> {
  return timed(onPart, name, async () => {
    const part = await start()
    return { part, address: part.network.rpcUrls[0] ?? '' }
  })
}

async function startEvm(
  { folder, blockMs, startAt, usualPorts = false, log }: ChainsSettings,
  { name, chainId, port }: (typeof evmNetworks)[number],
): Promise<RunningNetwork> {
  const choices = {
    ...(blockMs !== undefined && { blockMs }),
    ...(startAt !== undefined && { startAt }),
    ...(usualPorts && { port }),
  }
  const node = await startAnvil({ name, chainId, folder: join(folder, name), log, ...choices })
  try {
    const accounts = await nodeAccounts(node.client)
    const tokens = await deployTokens(node.client, accounts.deployer)
    await stockPayer(node.client, accounts, tokens)
    const network = evmNetwork({ name, chainId }, { client: node.client, url: node.url, accounts })
    return { network, stop: () => node.stop() }
  } catch (error) {
    await node.stop()
    throw error
  }
}

async function startSolanaNetwork(settings: ChainsSettings): Promise<RunningNetwork> {
  const { folder, slotMs, usualPorts = false, log } = settings
  const { name, port } = solana
  const signers = await solanaSigners()
  const genesis = solanaGenesis(signers)
  const choices = { ...(slotMs !== undefined && { slotMs }), ...(usualPorts && { port }) }
  const node = await startSolana({ folder: join(folder, name), genesis, log, ...choices })
  try {
    const rpc = createSolanaRpc(node.url)
    await createMints(rpc, signers)
    return { network: solanaNetwork(rpc, node.url, signers), stop: () => node.stop() }
  } catch (error) {
    await node.stop()
    throw error
  }
}

export type StartedPart = { part: string; address: string; milliseconds: number }

export type OnPart = (part: StartedPart) => void

export async function timed<Part>(
  onPart: OnPart,
  name: string,
  start: () => Promise<{ part: Part; address: string }>,
): Promise<Part> {
  const startedAt = performance.now()
  const { part, address } = await start()
  onPart({ part: name, address, milliseconds: Math.round(performance.now() - startedAt) })
  return part
}
