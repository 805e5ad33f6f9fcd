import { afterAll, beforeEach, expect, test } from 'vitest'
import { toTxId } from '../../../src/core/asset.ts'
import { openSolana } from '../../../src/service/network/solana.ts'
import { type Answer, type RpcProxy, type Script, startRpcProxy } from '../../support/rpc-proxy.ts'
import { networkSettings } from '../fixtures.ts'
import { keyring } from './solana-wallet.ts'

/** The nodes are all script: nothing listens behind them. */
const first: RpcProxy = await startRpcProxy('')
const second: RpcProxy = await startRpcProxy('')
const transfer = { transaction: toTxId('5'.repeat(88)), expiresHeight: 9_000n }

afterAll(() => Promise.all([first.stop(), second.stop()]))

type Node = {
  slot: number
  height: number
  statusSlot: number
  status: object | null
  firstSlot: number
  firstHeight: number | null
}

/** Blocks are 5000 less than slots, and everything is remembered from before the transfer was signed. */
const past: Node = {
  slot: 15_000,
  height: 10_000,
  statusSlot: 15_032,
  status: null,
  firstSlot: 13_000,
  firstHeight: 8_000,
}

function answersOf(node: Node): Record<string, unknown> {
  return {
    getEpochInfo: {
      epoch: 0,
      absoluteSlot: node.slot,
      blockHeight: node.height,
      slotIndex: 0,
      slotsInEpoch: 1,
    },
    getBlockHeight: node.height,
    getSignatureStatuses: { context: { slot: node.statusSlot }, value: [node.status] },
    getFirstAvailableBlock: node.firstSlot,
    getBlock: { blockHeight: node.firstHeight, blockhash: '', parentSlot: 0, previousBlockhash: '' },
  }
}

const node =
  (changes: Partial<Node>, silent: readonly string[] = []): Script =>
  ({ method }): Answer =>
    silent.includes(method) ? { status: 503 } : { result: answersOf({ ...past, ...changes })[method] }

beforeEach(() => {
  first.behave(node({}))
  second.behave(node({}))
})

function outcome() {
  const settings = networkSettings({ name: 'solana', family: 'solana', chainId: null, url: '', tokens: [] })
  return openSolana({ ...settings, rpcUrls: [first.url, second.url] }, keyring).outcome(transfer)
}

test('a transfer has expired where a node that remembers and is past its last block does not list it', async () => {
  expect(await outcome()).toEqual({ kind: 'expired' })
  first.behave(node({ firstSlot: 8_850, firstHeight: null }))
  expect(await outcome(), 'a slot is no less than its height').toEqual({ kind: 'expired' })
})

test('a node that answers in the place of another is asked for its own height', async () => {
  first.behave(node({}, ['getSignatureStatuses']))
  second.behave(node({ slot: 9_000, height: 5_000, statusSlot: 9_032 }))
  expect(await outcome()).toEqual({ kind: 'open', known: false })
  second.behave(node({}))
  expect(await outcome()).toEqual({ kind: 'expired' })
  second.behave(node({}, ['getFirstAvailableBlock']))
  await expect(outcome(), 'no node answers all').rejects.toThrow(/Solana RPC/)
})

test.each<[string, Partial<Node>]>([
  ['the last block that can hold it is the newest final one', { height: 9_000 }],
  [
    'the answer is of an older slot than the height, as behind an address with several nodes',
    { statusSlot: 14_999 },
  ],
  ['the node has forgotten the blocks in which it may be', { firstSlot: 13_851, firstHeight: 8_851 }],
  ['the node does not tell the height of the first block it has', { firstHeight: null }],
])('a transfer that is not listed is open where %s', async (_case, changes) => {
  first.behave(node(changes))
  expect(await outcome()).toEqual({ kind: 'open', known: false })
})

test('a transfer that is listed is open until it is final, however high the chain is', async () => {
  first.behave(
    node({ status: { slot: 14_000, confirmations: 3, err: null, confirmationStatus: 'confirmed' } }),
  )
  expect(await outcome()).toEqual({ kind: 'open', known: true })
})
