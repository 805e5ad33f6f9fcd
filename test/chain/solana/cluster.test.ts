import { afterEach, beforeEach, expect, test } from 'vitest'
import { createSolanaReader } from '../../../src/chain/solana/reader.ts'
import type { ChainReader, NetworkSettings } from '../../../src/chain/types.ts'
import { changes, type RpcProxy, startRpcProxy } from '../../support/rpc-proxy.ts'
import { honest, type Lie } from '../../support/solana-node.ts'
import { openSolanaFixture, type SolanaFixture } from '../../support/solana-watch.ts'

let fixture: SolanaFixture
/** Before the same ledger, so that one of them may say something else. */
let nodes: RpcProxy[]

beforeEach(async () => {
  fixture = await openSolanaFixture()
  const { url } = fixture.node
  nodes = [await startRpcProxy(url), await startRpcProxy(url)]
})
afterEach(async () => {
  for (const node of nodes) await node.stop()
  await fixture.node.stop()
})

function reader(changed: Partial<NetworkSettings> = {}): ChainReader {
  return createSolanaReader({ ...fixture.settings(), ...changed }, { bounds: { quotaWaitMs: 0 } })
}

const genesis =
  (hash: string): Lie =>
  ({ method }) =>
    method === 'getGenesisHash' ? { result: hash } : undefined

test('a node of another cluster than the settings name is a fault, by the check and by a scan', async () => {
  const meant = reader({ genesisHash: 'mainnet' })
  await expect(meant.checkIdentity()).rejects.toThrow(
    /RPC_SOLANA: expected genesis hash mainnet, found genesis \(solana node/,
  )
  const scan = meant.scan({ cursor: null, startHeight: null, watched: new Set() })
  await expect(scan).rejects.toMatchObject({ code: 'settings_bad' })
  fixture.node.lie(genesis('mainnet'))
  await expect(meant.checkIdentity()).resolves.toBeUndefined()
})

test('without a setting the cluster that was read first is the one that is meant', async () => {
  const any = reader()
  await any.checkIdentity()
  await any.scan({ cursor: null, startHeight: null, watched: new Set() })
  fixture.node.lie(({ method }) =>
    method === 'getLatestBlockhash' ? { error: { code: -32603, message: 'restarting' } } : undefined,
  )
  await expect(any.scan({ cursor: null, startHeight: null, watched: new Set() })).rejects.toThrow(
    'restarting',
  )
  // Behind the same address another server may have come up.
  fixture.node.lie(genesis('devnet'))
  const other = any.scan({ cursor: null, startHeight: null, watched: new Set() })
  await expect(other).rejects.toThrow('expected genesis hash genesis, found devnet')
  fixture.node.lie(honest)
  await expect(any.scan({ cursor: null, startHeight: null, watched: new Set() })).resolves.toBeDefined()
})

test('two nodes of different clusters are told of at the start', async () => {
  nodes[1]?.behave(changes('getGenesisHash', () => 'devnet'))
  const both = reader({ rpcUrls: nodes.map(({ url }) => url) })
  await expect(both.checkIdentity()).rejects.toThrow(/expected genesis hash (genesis|devnet), found/)
})
