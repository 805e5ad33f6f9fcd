import { type KeyPairSigner, address as kitAddress } from '@solana/kit'
import { getTransferSolInstruction } from '@solana-program/system'
import { pino } from 'pino'
import type { Address } from '../../../src/core/asset.ts'
import { startSolana } from '../../../src/sandbox/solana/node.ts'
import { openKeyring } from '../../../src/service/keyring/keyring.ts'
import type {
  NetworkClient,
  NetworkReadPosition,
  Scan,
  ScannedPayment,
} from '../../../src/service/network/port.ts'
import { openSolana } from '../../../src/service/network/solana.ts'
import { call, connect, fundedSigner, type Rpc, send, untilFinal } from '../../sandbox/solana/client.ts'
import { honest, type RpcProxy, type Script, startRpcProxy } from '../../support/rpc-proxy.ts'
import { until } from '../../support/until.ts'
import { networkSettings, seed } from '../fixtures.ts'

export const keyring = openKeyring(seed)
/** A hundredth of a SOL. */
export const some = 10_000_000n

/** Reads a local Solana from a proxy that can lie, and pays on it past the proxy. */
export type Scanner = {
  url: string
  rpc: Rpc
  proxy: RpcProxy
  payer: KeyPairSigner
  /** The one that is watched: a new one each time, that nobody has paid to yet. */
  address: Address
  network: NetworkClient
  position: NetworkReadPosition
  /** Begins with another address, an honest proxy and a reader that remembers nothing. */
  begin(): Promise<void>
  pay(amount?: bigint, source?: KeyPairSigner): Promise<string>
  /** Reads on by one scan. */
  scan(watched?: readonly Address[]): Promise<Scan>
  /** What is told until the slot was read as final. */
  readThrough(slot: bigint): Promise<ScannedPayment[]>
  /** The slot of a transaction, once it is final. */
  slotOf(signature: string): Promise<bigint>
  hashOf(slot: bigint): Promise<string>
  stop(): Promise<void>
}

/** Says that no slot above that one is final, whatever else it says. */
export function holdsFinalAt(final: bigint, script: Script = honest): Script {
  return (asked, forward) => {
    const [config] = asked.params as [{ commitment?: string } | undefined]
    const isAsked = asked.method === 'getSlot' && config?.commitment !== 'confirmed'
    return isAsked ? { result: Number(final) } : script(asked, forward)
  }
}

const sol = { symbol: 'SOL', decimals: 9, code: 'native' }

export async function startScanner(folder: string): Promise<Scanner> {
  const node = await startSolana({ folder, slotMs: 50, log: pino({ level: 'silent' }) })
  const { url } = node
  const [proxy, rpc] = [await startRpcProxy(url), connect(url)]
  const payer = await fundedSigner(rpc)
  let branch = 0
  const open = (): NetworkClient => {
    const net = { name: 'solana', family: 'solana', chainId: null, url: proxy.url } as const
    return openSolana(networkSettings({ ...net, tokens: [sol] }), keyring)
  }
  const network = open()
  const scanner: Scanner = {
    url,
    rpc,
    proxy,
    payer,
    address: keyring.address('solana', branch),
    network,
    position: await network.start(),
    async begin() {
      proxy.behave()
      scanner.address = keyring.address('solana', ++branch)
      scanner.network = open()
      scanner.position = await scanner.network.start()
      proxy.calls.length = 0
    },
    pay(amount = some, source = payer) {
      const destination = kitAddress(scanner.address)
      return send(rpc, {
        payer: source,
        instructions: [getTransferSolInstruction({ source, destination, amount })],
      })
    },
    async scan(watched = [scanner.address]) {
      const found = await scanner.network.scan(scanner.position, () => Promise.resolve(new Set(watched)))
      scanner.position = found.position
      return found
    },
    async readThrough(slot) {
      const all: ScannedPayment[] = []
      await until(`slot ${slot} is read as final`, async () => {
        all.push(...(await scanner.scan()).payments)
        return scanner.position.finalHeight >= slot || null
      })
      return all
    },
    async slotOf(signature) {
      await untilFinal(rpc, signature)
      const { result } = await call(url, 'getTransaction', signature, { maxSupportedTransactionVersion: 1 })
      return BigInt((result as { slot: number }).slot)
    },
    async hashOf(slot) {
      const { result } = await call(url, 'getBlock', Number(slot), { transactionDetails: 'none' })
      return (result as { blockhash: string }).blockhash
    },
    stop: () => Promise.all([proxy.stop(), node.stop()]).then(() => undefined),
  }
  return scanner
}
