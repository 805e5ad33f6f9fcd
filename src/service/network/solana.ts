import {
  createDefaultRpcTransport,
  createSolanaRpcFromTransport,
  getBase64Decoder,
  isSolanaError,
  type RpcTransport,
  type Signature,
} from '@solana/kit'
import { type Asset, assetCode, type NetworkSettings } from '../../core/asset.ts'
import { assert, Fault, isFault } from '../../core/errors.ts'
import { type Keyring, liquidityBranch } from '../keyring/keyring.ts'
import { createRequestCoalescer, describeError } from '../running/requests.ts'
import { createBlockScanner } from './block-scan.ts'
import type { NetworkClient, SignedTransfer, SignedTransferOutcome } from './port.ts'
import { readMint, readSolanaBalance, type SolanaNetworkRpc } from './solana-accounts.ts'
import { draftSolana, type SolanaWallet } from './solana-draft.ts'
import { createSolanaReservations } from './solana-reservations.ts'
import { solanaSource, startSolana } from './solana-source.ts'

const timeoutMs = 10_000

export function openSolana(settings: NetworkSettings, keyring: Keyring): NetworkClient {
  const rpc: SolanaNetworkRpc = createSolanaRpcFromTransport(inTurn(settings.rpcUrls))
  const nodes: readonly SolanaNetworkRpc[] = settings.rpcUrls.map((url) =>
    createSolanaRpcFromTransport(inTurn([url])),
  )
  const liquidity = keyring.address('solana', liquidityBranch)
  const wallet: SolanaWallet = {
    rpc,
    settings,
    keyring,
    reservations: createSolanaReservations(),
    coalesce: createRequestCoalescer(),
  }
  return {
    settings,
    check: () => checkSolana(rpc, settings),
    start: () => startSolana(rpc),
    scan: createBlockScanner(solanaSource({ rpc, settings, liquidity })),
    draft: (order) => asFault(settings, draftSolana(wallet, order)),
    gasLack: () => Promise.resolve(0n),
    redraft: () => Promise.resolve(null),
    send: async (bytes) => {
      const wire = getBase64Decoder().decode(bytes) as Parameters<SolanaNetworkRpc['sendTransaction']>[0]
      await rpc.sendTransaction(wire, { encoding: 'base64', preflightCommitment: 'confirmed' }).send()
    },
    nextNonce: () => Promise.resolve(null),
    outcome: (transfer) => solanaOutcome(nodes, transfer),
    balance: (branch, asset) => readSolanaBalance(rpc, keyring.address('solana', branch), assetCode(asset)),
  }
}

function inTurn(urls: readonly string[]): RpcTransport {
  const transports = urls.map((url) => createDefaultRpcTransport({ url }))
  const ask = async (request: Parameters<RpcTransport>[0], place = 0): Promise<unknown> => {
    const transport = transports[place]
    if (transport === undefined)
      throw new Fault('remote_failed', { what: 'Solana RPC', problem: 'no URL left to try' })
    try {
      const signals = [AbortSignal.timeout(timeoutMs), ...(request.signal ? [request.signal] : [])]
      return await transport({ ...request, signal: AbortSignal.any(signals) })
    } catch (error) {
      if (place < transports.length - 1) return ask(request, place + 1)
      const details = { what: 'Solana RPC', problem: describeError(error) }
      throw new Fault('remote_failed', details, { cause: error })
    }
  }
  return ask as RpcTransport
}

async function checkSolana(
  rpc: SolanaNetworkRpc,
  { name, assets, genesisHash }: NetworkSettings,
): Promise<void> {
  const actual = genesisHash === undefined ? undefined : await rpc.getGenesisHash().send()
  if (actual !== genesisHash) {
    const fault = `the RPC of ${name} serves the cluster ${actual}, not ${genesisHash}`
    throw new Fault('settings_bad', { faults: [fault] })
  }
  const problems = await Promise.all(assets.map((asset) => problemOf(rpc, asset)))
  const faults = problems.filter((problem) => problem !== null)
  if (faults.length > 0) throw new Fault('settings_bad', { faults })
}

async function problemOf(rpc: SolanaNetworkRpc, { key, decimals }: Asset): Promise<string | null> {
  const code = assetCode(key)
  if (code === 'native') return decimals === 9 ? null : `${key} has 9 decimals, not ${decimals}`
  const mint = await readMint(rpc, code)
  if (mint === null) return `${key} is not a mint on this network`
  if (mint.obstacle !== null) return `${key} cannot be forwarded: ${mint.obstacle}`
  return mint.decimals === decimals ? null : `${key} has ${mint.decimals} decimals, not ${decimals}`
}

/** The caller retries later. */
async function asFault<Result>({ name }: NetworkSettings, asked: Promise<Result>): Promise<Result> {
  try {
    return await asked
  } catch (error) {
    if (!isSolanaError(error)) throw error
    const details = { what: `paying on ${name}`, problem: describeError(error) }
    throw new Fault('remote_failed', details, { cause: error })
  }
}

type SolanaTransferRef = Pick<SignedTransfer, 'transaction' | 'expiresHeight'>

/** A blockhash is valid for this many blocks after its own, so its transactions can only be in those. */
const lifetimeBlocks = 150n

/** All queries of one outcome go to the same node: the answers of two cannot be combined. */
async function solanaOutcome(
  nodes: readonly SolanaNetworkRpc[],
  wanted: SolanaTransferRef,
): Promise<SignedTransferOutcome> {
  const [node, ...others] = nodes
  assert(node !== undefined, 'a network has an address')
  try {
    return await outcomeBy(node, wanted)
  } catch (error) {
    if (!isFault(error, 'remote_failed') || others.length === 0) throw error
    return solanaOutcome(others, wanted)
  }
}

async function outcomeBy(rpc: SolanaNetworkRpc, wanted: SolanaTransferRef): Promise<SignedTransferOutcome> {
  const { transaction, expiresHeight } = wanted
  assert(expiresHeight !== null, 'a Solana transaction expires')
  const signature = transaction as string as Signature
  const final = await rpc.getEpochInfo({ commitment: 'finalized' }).send()
  const { context, value } = await rpc
    .getSignatureStatuses([signature], { searchTransactionHistory: true })
    .send()
  const status = value[0] ?? null
  if (status === null) {
    // A URL may lead to several nodes, and a lagging one lacks transactions.
    const isPast = final.blockHeight > expiresHeight && context.slot >= final.absoluteSlot
    const isProved = isPast && (await remembers(rpc, expiresHeight - lifetimeBlocks))
    return isProved ? { kind: 'expired' } : { kind: 'open', known: false }
  }
  if (status.confirmationStatus !== 'finalized') return { kind: 'open', known: true }
  if (status.err !== null) return { kind: 'reverted' }
  const landed = await rpc
    .getTransaction(signature, {
      commitment: 'finalized',
      encoding: 'json',
      maxSupportedTransactionVersion: 1,
    })
    .send()
  if (landed === null) return { kind: 'open', known: true }
  return { kind: 'landed', at: new Date(Number(landed.blockTime) * 1000) }
}

/**
 * Nodes prune old blocks and the statuses of their transactions. A slot is never less than the height of its block, so
 * the height of the first block is queried only if needed.
 */
async function remembers(rpc: SolanaNetworkRpc, height: bigint): Promise<boolean> {
  const slot = await rpc.getFirstAvailableBlock().send()
  if (slot <= height) return true
  const config = { commitment: 'finalized', transactionDetails: 'none', rewards: false } as const
  const first = (await rpc.getBlock(slot, config).send())?.blockHeight ?? null
  return first !== null && first <= height
}
