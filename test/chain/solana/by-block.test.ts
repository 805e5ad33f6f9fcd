import { afterEach, beforeEach, expect, test } from 'vitest'
import type { ScanResult } from '../../../src/chain/types.ts'
import { honest, type Lie } from '../../support/solana-node.ts'
import { openSolanaFixture, pays, type SolanaFixture, watched } from '../../support/solana-watch.ts'

let fixture: SolanaFixture
beforeEach(async () => {
  fixture = await openSolanaFixture('by_block')
})
afterEach(() => fixture.node.stop())

/** Three payments, in slots 1001 to 1003. */
function pay(): string[] {
  return [1n, 2n, 3n].map((amount) => fixture.node.transact(pays(fixture.associated, amount, fixture.usdc)))
}

function scan(): Promise<ScanResult> {
  return fixture.reader().scan({ cursor: fixture.start, startHeight: null, watched })
}

function blockOf(slot: number, answer: ReturnType<Lie>): Lie {
  return ({ method, params }) => (method === 'getBlock' && params[0] === slot ? answer : undefined)
}

test('each block is read once, a payment once more for its memo, and nothing is asked for by address', async () => {
  const reader = fixture.reader()
  await reader.scan({ cursor: fixture.start, startHeight: null, watched })
  pay()
  fixture.node.calls.length = 0
  const { transfers, proved, cursor } = await reader.scan({
    cursor: fixture.start,
    startHeight: null,
    watched,
  })
  expect(transfers.map(({ amount }) => amount)).toEqual([1n, 2n, 3n])
  expect(proved).toEqual([{ from: 1001n, to: 1003n }])
  expect(cursor.final).toEqual({ height: 1003n, hash: 'hash1003' })
  expect(fixture.node.calls.map(({ method }) => method).toSorted()).toEqual([
    ...Array.from({ length: 3 }, () => 'getBlock'),
    'getBlocksWithLimit',
    'getLatestBlockhash',
    ...Array.from({ length: 3 }, () => 'getTransaction'),
  ])
})

test('slots without a block are bridged by the next block, which names its parent', async () => {
  fixture.node.skipped.add(1002n).add(1003n)
  fixture.node.slot = 1003n
  const tx = fixture.node.transact(pays(fixture.associated, 5n, fixture.usdc))
  const { transfers, proved } = await scan()
  expect(transfers.map((transfer) => transfer.tx)).toEqual([tx])
  expect(proved).toEqual([{ from: 1001n, to: 1004n }])
})

test('a block that is left out of the list is missed by its child, and what is behind it waits', async () => {
  pay()
  fixture.node.lie(({ method }) => (method === 'getBlocksWithLimit' ? { result: [1001, 1003] } : undefined))
  const cut = await scan()
  expect(cut.transfers.map(({ amount }) => amount)).toEqual([1n])
  expect(cut).toMatchObject({ proved: [{ from: 1001n, to: 1001n }], more: true })
  fixture.node.lie(honest)
  const { transfers } = await fixture.reader().scan({ cursor: cut.cursor, startHeight: null, watched })
  expect(transfers.map(({ amount }) => amount)).toEqual([2n, 3n])
})

test.each([-32004, -32007, -32009, -32014])(
  'a final slot that answers %i is late: what is before it is read',
  async (code) => {
    pay()
    fixture.node.lie(blockOf(1002, { error: { code, message: 'not there' } }))
    const { transfers, cursor, more } = await scan()
    expect(transfers.map(({ amount }) => amount)).toEqual([1n])
    expect([cursor.final.height, more]).toEqual([1001n, true])
    fixture.node.lie(blockOf(1001, { error: { code, message: 'not there' } }))
    await expect(scan()).rejects.toThrow('lists a block that it does not have')
  },
)

test('a null block is as late as one that is refused', async () => {
  pay()
  fixture.node.lie(blockOf(1003, { result: null }))
  expect((await scan()).cursor.final.height).toBe(1002n)
})

test('a node whose next block has another parent than what was read as final does not move the cursor', async () => {
  pay()
  const block = { blockhash: 'hash1001', blockTime: 1, parentSlot: 1000, transactions: [] }
  fixture.node.lie(blockOf(1001, { result: { ...block, previousBlockhash: 'foreign' } }))
  await expect(scan()).rejects.toThrow('parent foreign in slot 1000, not hash1000 in slot 1000')
})

test('a node that lists no blocks though later slots are final does not move the cursor', async () => {
  pay()
  fixture.node.lie(({ method }) => (method === 'getBlocksWithLimit' ? { result: [] } : undefined))
  await expect(scan()).rejects.toThrow('the node lists no blocks')
})

test('a final block whose hash is not that of its bank is not believed', async () => {
  pay()
  const bank = { context: { slot: 1003 }, value: { blockhash: 'other', lastValidBlockHeight: 1 } }
  fixture.node.lie(({ method }) => (method === 'getLatestBlockhash' ? { result: bank } : undefined))
  await expect(scan()).rejects.toThrow('its hash is hash1003, but its bank reports other')
})

test('a scan reads so many blocks at most and says that more waits', async () => {
  pay()
  const reader = fixture.reader({ slotsPerScan: 2 })
  const first = await reader.scan({ cursor: fixture.start, startHeight: null, watched })
  expect([first.cursor.final.height, first.more]).toEqual([1002n, true])
  const second = await reader.scan({ cursor: first.cursor, startHeight: null, watched })
  expect(second.transfers.map(({ amount }) => amount)).toEqual([3n])
  expect(second.more).toBe(false)
})

test('a stretch whose first blocks a node leaves out is missed by the first that it has', async () => {
  pay()
  fixture.node.lie(({ method }) => (method === 'getBlocksWithLimit' ? { result: [1003] } : undefined))
  await expect(fixture.reader().readRange({ from: 1002n, to: 1003n, watched })).rejects.toThrow(
    'block 1003 has the parent hash1002 in slot 1002, not one below slot 1002',
  )
})
