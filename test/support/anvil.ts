import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import {
  type Account,
  type Chain,
  createTestClient,
  defineChain,
  http,
  type PublicActions,
  publicActions,
  type TestClient,
  type Transport,
  type WalletActions,
  walletActions,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

/** The first account of anvil's published development mnemonic. */
export const rich = privateKeyToAccount('0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80')

type Client = TestClient<'anvil', Transport, Chain, Account> &
  PublicActions<Transport, Chain, Account> &
  WalletActions<Chain, Account>

/** A real chain that mines only when told to; two blocks below its head are not final. */
export type Anvil = {
  url: string
  chainId: number
  client: Client
  mine(blocks?: number): Promise<void>
  /** Replaces the newest blocks by empty ones; their transactions are gone. */
  reorg(depth: number): Promise<void>
  stop(): Promise<void>
}

const binary = join(import.meta.dirname, '../../node_modules/@foundry-rs/anvil-linux-amd64/bin/anvil')

export async function startAnvil(chainId = 8453, options: readonly string[] = []): Promise<Anvil> {
  const own = ['--port', '0', '--chain-id', chainId.toString(), '--slots-in-an-epoch', '1', '--no-mining']
  const args = [...own, ...options]
  const child = spawn(binary, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const url = `http://${await listeningAddress(child)}`
  const client = openClient(url, chainId)
  return {
    url,
    chainId,
    client,
    mine: (blocks = 1) => client.mine({ blocks }),
    reorg: async (depth) => {
      await client.request({ method: 'anvil_reorg' as never, params: [depth, []] as never })
      await client.request({ method: 'anvil_dropAllTransactions' as never })
    },
    stop: async () => {
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
    },
  }
}

function openClient(url: string, chainId: number): Client {
  const chain = defineChain({
    id: chainId,
    name: 'local',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [url] } },
  })
  // Nothing is asked a second time: blocks that take long to mine would be mined twice.
  const transport = http(url, { timeout: 120_000, retryCount: 0 })
  return createTestClient({ mode: 'anvil', chain, account: rich, transport, cacheTime: 0 })
    .extend(publicActions)
    .extend(walletActions)
}

async function listeningAddress({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error('no output to read')
  for await (const line of createInterface(stdout)) {
    const address = /Listening on (\S+)/.exec(line)?.[1]
    if (address !== undefined) {
      stdout.resume()
      return address
    }
  }
  throw new Error('anvil ended before it listened')
}
