import { afterEach, beforeEach, expect, test } from 'vitest'
import { createSolanaReader } from '../../../src/chain/solana/reader.ts'
import { honest, type Lie } from '../../support/solana-node.ts'
import { openSolanaFixture, owner, pays, type SolanaFixture } from '../../support/solana-watch.ts'

let fixture: SolanaFixture
beforeEach(async () => {
  fixture = await openSolanaFixture()
})
afterEach(() => fixture.node.stop())

test.each<[string, Lie, RegExp]>([
  [
    'lists a transaction that it does not have',
    ({ method }) => (method === 'getTransaction' ? { result: null } : undefined),
    /listed, but cannot be read/,
  ],
  [
    'has dropped the slots to be read',
    ({ method }) => (method === 'getFirstAvailableBlock' ? { result: 5000 } : undefined),
    /starts at slot 5000/,
  ],
  [
    'is behind what was read',
    ({ method }) =>
      method === 'getLatestBlockhash'
        ? { result: { context: { slot: 7 }, value: { blockhash: 'x', lastValidBlockHeight: 1 } } }
        : undefined,
    /at 7, below slot 1000/,
  ],
  [
    'lacks the block',
    ({ method }) =>
      method === 'getBlock'
        ? { error: { code: -32004, message: 'Block not available for slot' } }
        : undefined,
    /block 1001/,
  ],
  ['asks to slow down', () => ({ error: { code: 429, message: 'Too many requests' } }), /remote_failed/],
])('a node that %s does not move the cursor', async (_what, script, problem) => {
  const tx = fixture.node.transact(pays(fixture.associated, 5n, fixture.usdc))
  fixture.node.lie(script)
  await expect(fixture.found()).rejects.toThrow(problem)
  fixture.node.lie(honest)
  expect(await fixture.found()).toEqual([[tx, `${fixture.usdc}:${owner}`, 5n]])
})

test('of a long refusal the beginning is told', async () => {
  const tooLong = { error: { code: -32603, message: `no: ${'a-'.repeat(500_000)}` } }
  fixture.node.lie(({ method }) => (method === 'getSignaturesForAddress' ? tooLong : undefined))
  const said = await fixture.found().then(String, (thrown: Error) => thrown.message)
  expect(said).toMatch(/no: a-.* characters\)/)
  expect(said.length).toBeLessThan(3000)
})

test('a failed transaction that is listed as a good one moved nothing', async () => {
  const signature = fixture.node.transact(pays(fixture.associated, 5n, fixture.usdc), { failed: true })
  const entry = { signature, slot: 1001, err: null, memo: null, blockTime: 1 }
  fixture.node.lie(({ method }) => (method === 'getSignaturesForAddress' ? { result: [entry] } : undefined))
  expect(await fixture.found()).toEqual([])
})

test('a history is walked back no further than the known end', async () => {
  for (let count = 0; count < 9; count++) fixture.node.transact(pays(fixture.associated, 1n, fixture.usdc))
  fixture.node.slot += 1000n
  const { cursor } = await fixture.reader().scan({ cursor: null, startHeight: null, watched: new Set() })
  fixture.node.calls.length = 0
  await fixture.found(cursor, { signaturesPerPage: 2 })
  const pages = fixture.node.calls.filter(({ method }) => method === 'getSignaturesForAddress')
  expect(pages).toHaveLength(2)
})

test('a history longer than the bound of pages does not move the cursor', async () => {
  const { associated: account } = fixture
  for (let count = 0; count < 9; count++) fixture.node.transact(pays(account, 1n, fixture.usdc))
  await expect(fixture.found(fixture.start, { signaturesPerPage: 2, pagesPerAddress: 3 })).rejects.toThrow(
    'was not reached within 3 pages',
  )
})

test('an owner without token accounts costs one history per address', async () => {
  expect(await fixture.found()).toEqual([])
  fixture.node.calls.length = 0
  fixture.node.slot += 1n
  await fixture.found()
  const asked = fixture.node.calls.map(({ method }) => method)
  expect(asked.filter((method) => method === 'getSignaturesForAddress')).toHaveLength(2)
})

test('wrong decimals and unknown mints are named with the cluster', async () => {
  await expect(fixture.reader().checkIdentity()).resolves.toBeUndefined()
  const wrong = createSolanaReader(fixture.settings(9)).checkIdentity()
  await expect(wrong).rejects.toThrow(/asset USDC .*expected decimals 9, found 6 .*genesis genesis/)
})
