import type { Hex } from 'viem'
import { createEvmReader } from '../../src/chain/evm/reader.ts'
import type { HeightRange, RangeResult } from '../../src/chain/types.ts'
import type { NetworkReading } from '../../src/core/asset.ts'
import { type Anvil, startAnvil } from './anvil.ts'
import { addresses, evmSettings } from './evm-watch.ts'
import { type RpcProxy, type Script, startRpcProxy } from './rpc-proxy.ts'
import { forwarderCode, placeCode, wrapperCode } from './small-contracts.ts'

export const alice = '0x00000000000000000000000000000000000a11ce'

/** A chain that traces its blocks, with contracts that pay from within transactions. */
export type TracedChain = {
  anvil: Anvil
  /** What is read from unless other nodes are named. */
  proxy: RpcProxy
  forwarder: Hex
  /** The one token of the settings. */
  wrapper: Hex
  pay(to: Hex, value: bigint, data?: Hex): Promise<Hex>
  /** Sends the transactions into one block and makes it final. */
  inBlock(...sends: (() => Promise<Hex>)[]): Promise<HeightRange & { txs: Hex[] }>
  reader(read?: Read): ReturnType<typeof createEvmReader>
  readTraced(range: HeightRange, read?: Read & { of?: readonly string[] }): Promise<RangeResult>
  stop(): Promise<void>
}

type Read = { urls?: readonly string[]; reading?: Partial<NetworkReading> }

const onDifference: NetworkReading = {
  quorum: 1,
  finality: { kind: 'tag', tag: 'finalized' },
  traces: 'on_difference',
}

export async function startTracedChain(): Promise<TracedChain> {
  const anvil = await startAnvil()
  const proxy = await startRpcProxy(anvil.url)
  const wrapper = await placeCode(anvil, wrapperCode)
  const forwarder = await placeCode(anvil, forwarderCode)
  await anvil.mine()
  const reader: TracedChain['reader'] = ({ urls = [proxy.url], reading } = {}) => {
    const settings = { ...evmSettings(anvil, { tokens: [wrapper] }), rpcUrls: urls }
    return createEvmReader({ ...settings, reading: { ...onDifference, ...reading } })
  }
  return {
    anvil,
    proxy,
    forwarder,
    wrapper,
    pay: (to, value, data = '0x') => anvil.client.sendTransaction({ to, value, data, gas: 300_000n }),
    inBlock: (...sends) => inBlock(anvil, sends),
    reader,
    readTraced: (range, { of = [alice], ...read } = {}) =>
      reader(read).readRange({ ...range, watched: addresses(...of), traced: true }),
    stop: async () => {
      await proxy.stop()
      await anvil.stop()
    },
  }
}

async function inBlock(anvil: Anvil, sends: readonly (() => Promise<Hex>)[]) {
  const txs: Hex[] = []
  for (const send of sends) txs.push(await send())
  await anvil.mine()
  const height = await anvil.client.getBlockNumber()
  await anvil.mine(2)
  return { from: height, to: height, txs }
}

/** The node refuses methods as one that does not have them. */
export function lacks(...methods: readonly string[]): Script {
  const error = { code: -32601, message: 'the method does not exist/is not available' }
  return ({ method }, forward) => (methods.includes(method) ? { error } : forward())
}
