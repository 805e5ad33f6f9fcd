import {
  createDefaultRpcTransport,
  createSolanaRpcFromTransport,
  getBase64Decoder,
  type Rpc,
  type RpcTransport,
  type SolanaRpcApi,
  address as toSolanaAddress,
} from '@solana/kit'
import {
  fetchMaybeMint,
  fetchMaybeToken,
  findAssociatedTokenPda,
  TOKEN_PROGRAM_ADDRESS,
} from '@solana-program/token'
import type { NetworkSettings } from '../../chain/port.ts'
import { type Address, type Asset, type AssetKey, assetCode } from '../../core/asset.ts'
import { Fault } from '../../core/errors.ts'
import { type Keyring, liquidityBranch } from '../keyring/keyring.ts'
import type { Network } from './port.ts'
import { draftSolanaForward, solanaOutcome } from './solana-forward.ts'
import { type SolanaChain, scanSolana, startSolana } from './solana-scan.ts'

export type SolanaRpc = Rpc<SolanaRpcApi>

/** A Solana network on which the keys of the keyring pay. */
export function openSolana(settings: NetworkSettings, keyring: Keyring): Network {
  const rpc: SolanaRpc = createSolanaRpcFromTransport(inTurn(settings.rpcUrls))
  const liquidity = keyring.address('solana', liquidityBranch)
  const chain: SolanaChain = { rpc, settings, liquidity, seen: new Map() }
  return {
    settings,
    check: () => checkSolana(rpc, settings),
    start: () => startSolana(rpc),
    scan: (position, watched) => scanSolana(chain, position, watched),
    draft: (order) => draftSolanaForward({ rpc, settings, keyring }, order),
    gasLack: () => Promise.resolve(0n),
    redraft: () => Promise.resolve(null),
    send: async (bytes) => {
      const wire = getBase64Decoder().decode(bytes) as Parameters<SolanaRpc['sendTransaction']>[0]
      await rpc.sendTransaction(wire, { encoding: 'base64', preflightCommitment: 'confirmed' }).send()
    },
    nextNonce: () => Promise.resolve(null),
    outcome: (transfer) => solanaOutcome(rpc, transfer),
    balance: (branch, asset) => balanceOf(rpc, keyring.address('solana', branch), asset),
  }
}

/** Asks the next address where one does not answer. */
function inTurn(urls: readonly string[]): RpcTransport {
  const transports = urls.map((url) => createDefaultRpcTransport({ url }))
  const ask = async (request: Parameters<RpcTransport>[0], place = 0): Promise<unknown> => {
    const transport = transports[place]
    if (transport === undefined)
      throw new Fault('remote_failed', { what: 'Solana RPC', problem: 'no address left' })
    try {
      return await transport(request)
    } catch (error) {
      if (place === transports.length - 1) throw error
      return ask(request, place + 1)
    }
  }
  return ask as RpcTransport
}

async function balanceOf(rpc: SolanaRpc, holder: Address, asset: AssetKey): Promise<bigint> {
  const code = assetCode(asset)
  const owner = toSolanaAddress(holder)
  if (code === 'native') return (await rpc.getBalance(owner, { commitment: 'confirmed' }).send()).value
  const [account] = await findAssociatedTokenPda({
    owner,
    mint: toSolanaAddress(code),
    tokenProgram: TOKEN_PROGRAM_ADDRESS,
  })
  const token = await fetchMaybeToken(rpc, account, { commitment: 'confirmed' })
  return token.exists ? token.data.amount : 0n
}

async function checkSolana(rpc: SolanaRpc, { assets }: NetworkSettings): Promise<void> {
  const problems = await Promise.all(assets.map((asset) => decimalsProblem(rpc, asset)))
  const faults = problems.filter((problem) => problem !== null)
  if (faults.length > 0) throw new Fault('settings_bad', { faults })
}

async function decimalsProblem(rpc: SolanaRpc, { key, decimals }: Asset): Promise<string | null> {
  const code = assetCode(key)
  if (code === 'native') return decimals === 9 ? null : `${key} has 9 decimals, not ${decimals}`
  const mint = await fetchMaybeMint(rpc, toSolanaAddress(code))
  if (!mint.exists) return `${key} is not a mint on this network`
  return mint.data.decimals === decimals ? null : `${key} has ${mint.data.decimals} decimals, not ${decimals}`
}
