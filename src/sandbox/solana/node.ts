import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Address } from '@solana/kit'
import type { Logger } from 'pino'
import { freePort, loopback } from '../free-port.ts'
import { sandboxSigner } from '../sandbox-signer.ts'
import { accountMethods } from './account-methods.ts'
import { openChain } from './chain.ts'
import { clusterMethods } from './cluster-methods.ts'
import { createFaucet } from './faucet.ts'
import { historyMethods } from './history-methods.ts'
import { serveRpc } from './rpc-server.ts'
import { createSlots, type SlotSettings } from './slots.ts'
import { submitMethods } from './submit-methods.ts'

export type SolanaSettings = {
  /** Where the chain is kept. */
  folder: string
  /** Used if nobody listens on it; without it, or where it is taken, a free port is chosen. */
  port?: number
  /** For a chain that is begun; one that is continued keeps its own. */
  slotMs?: number
  /** How many slots `confirmed` and `finalized` are behind the newest. */
  confirmedLag?: number
  finalizedLag?: number
  /** Lamports that accounts begin with, beside those of the faucet behind `requestAirdrop`. */
  genesis?: ReadonlyMap<Address, bigint>
  log: Logger
}

export type SandboxSolanaNode = { url: string; stop(): Promise<void> }

const faucetLamports = 500_000_000n * 1_000_000_000n
/** A chain begins as if it had run a while, so that looking back some slots finds some. */
const slotsBeforeStart = 1000

/**
 * Runs Solana's virtual machine with its history behind the JSON-RPC interface, on loopback, within this process.
 * What was answered is on disk before the answer.
 */
export async function startSolana(settings: SolanaSettings): Promise<SandboxSolanaNode> {
  const { folder, log, confirmedLag = 1, finalizedLag = 4, slotMs = 400 } = settings
  mkdirSync(folder, { recursive: true })
  const slots = createSlots({
    ...readGenesis(join(folder, 'genesis.json'), slotMs),
    confirmedLag,
    finalizedLag,
  })
  const faucet = await sandboxSigner('faucet')
  const balances = new Map([...(settings.genesis ?? []), [faucet.address, faucetLamports] as const])
  const chain = openChain({ path: join(folder, 'transactions.jsonl'), slots, genesis: toAccounts(balances) })
  const port = await freePort(settings.port)
  const methods = {
    ...clusterMethods(chain),
    ...accountMethods(chain),
    ...historyMethods(chain),
    ...submitMethods(chain, createFaucet(faucet, slots)),
  }
  const server = await serveRpc(methods, port, log)
  return {
    url: `http://${loopback}:${port}`,
    async stop() {
      await server.stop()
      chain.history.close()
    },
  }
}

type Genesis = Pick<SlotSettings, 'genesisMs' | 'slotMs'>

function readGenesis(path: string, slotMs: number): Genesis {
  if (!existsSync(path)) {
    const genesis: Genesis = { genesisMs: Date.now() - slotsBeforeStart * slotMs, slotMs }
    writeFileSync(`${path}.new`, JSON.stringify(genesis))
    renameSync(`${path}.new`, path)
  }
  return JSON.parse(readFileSync(path, 'utf8')) as Genesis
}

const systemProgram = '11111111111111111111111111111111' as Address

function toAccounts(balances: ReadonlyMap<Address, bigint>) {
  const empty = { owner: systemProgram, data: new Uint8Array(), executable: false }
  return new Map([...balances].map(([address, lamports]) => [address, { ...empty, lamports }]))
}
