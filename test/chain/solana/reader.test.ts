import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { drain } from '../../support/evm-watch.ts'
import { type Effect, newAddress } from '../../support/solana-ledger.ts'
import {
  openSolanaFixture,
  owner,
  payer,
  pays,
  type SolanaFixture,
  solana,
  solanaStrategies,
  watched,
} from '../../support/solana-watch.ts'

describe.each(solanaStrategies)('%s', (strategy) => {
  let fixture: SolanaFixture
  beforeEach(async () => {
    fixture = await openSolanaFixture(strategy)
  })
  afterEach(() => fixture.node.stop())

  test('the first scan without a start slot begins above the final slot', () => {
    expect(fixture.start).toEqual({
      final: { height: 1000n, hash: 'hash1000' },
      seenHeight: 1000n,
      trail: [],
    })
  })

  test('tokens to the associated account are a final transfer from the one whose balance fell', async () => {
    const { associated: account } = fixture
    fixture.node.addAccount(account, fixture.usdc, owner)
    const tx = fixture.node.transact(pays(account, 5n, fixture.usdc))
    const { transfers, cursor } = await drain(fixture.reader(), watched, { cursor: fixture.start })
    expect(transfers).toEqual([
      {
        stage: 'final',
        network: solana,
        tx,
        index: `${fixture.usdc}:${owner}`,
        asset: `solana/${fixture.usdc}`,
        from: payer,
        to: owner,
        amount: 5n,
        height: 1001n,
        blockHash: 'hash1001',
        blockAt: new Date(1_700_000_000_000),
      },
    ])
    expect(cursor.final).toEqual({ height: 1001n, hash: 'hash1001' })
  })

  test('what came to the associated account is found though it was closed before the scan', async () => {
    const tx = fixture.node.transact(pays(fixture.associated, 5n, fixture.usdc))
    expect(await fixture.found()).toEqual([[tx, `${fixture.usdc}:${owner}`, 5n]])
  })

  test('an account that was known and then closed keeps its history', async () => {
    const account = newAddress()
    fixture.node.addAccount(account, fixture.usdc, owner)
    const steady = fixture.reader()
    const { cursor } = await drain(steady, watched, { cursor: fixture.start })
    const tx = fixture.node.transact(pays(account, 5n, fixture.usdc))
    fixture.node.closeAccount(account)
    const { transfers } = await drain(steady, watched, { cursor })
    expect(transfers.map((transfer) => transfer.tx)).toEqual([tx])
  })

  test('lamports count with full precision, and to whom they came', async () => {
    const huge = 2n ** 60n + 1n
    const tx = fixture.node.transact([
      { account: payer, lamports: [huge, 0n] },
      { account: owner, lamports: [1n, huge + 1n] },
    ])
    expect(await fixture.found()).toEqual([[tx, `native:${owner}`, huge]])
  })

  test('the rent of a new token account is no deposit, nor is getting it back', async () => {
    const { associated: account } = fixture
    fixture.node.transact([
      { account: payer, lamports: [2_039_280n, 0n] },
      { account: owner },
      { account, lamports: [0n, 2_039_280n], token: { mint: fixture.usdc, owner, before: 0n, after: 0n } },
    ])
    fixture.node.transact([
      { account: owner, lamports: [10n, 2_039_290n] },
      { account, lamports: [2_039_280n, 0n], token: { mint: fixture.usdc, owner, before: 0n, after: 0n } },
    ])
    expect(await fixture.found()).toEqual([])
  })

  test('a failed transaction moved nothing, and is not even asked for', async () => {
    fixture.node.transact(pays(fixture.associated, 5n, fixture.usdc), { failed: true })
    fixture.node.calls.length = 0
    expect(await fixture.found()).toEqual([])
    expect(fixture.node.calls.map(({ method }) => method)).not.toContain('getTransaction')
  })

  test('what an owner pays is no transfer to him', async () => {
    fixture.node.transact([
      { account: owner, lamports: [9n, 0n] },
      { account: payer, lamports: [0n, 9n] },
      { account: fixture.associated, token: { mint: fixture.usdc, owner, before: 5n, after: 0n } },
    ])
    expect(await fixture.found()).toEqual([])
  })

  test('tokens and lamports in one transaction are two transfers', async () => {
    const { associated: account } = fixture
    const tx = fixture.node.transact([
      ...pays(account, 5n, fixture.usdc),
      { account: payer, lamports: [9n, 0n] },
      { account: owner, lamports: [0n, 9n] },
    ])
    expect(await fixture.found()).toEqual([
      [tx, `${fixture.usdc}:${owner}`, 5n],
      [tx, `native:${owner}`, 9n],
    ])
  })

  test('two payments to two accounts of one owner in one transaction are one change', async () => {
    const [first, second] = [newAddress(), newAddress()]
    fixture.node.addAccount(first, fixture.usdc, owner)
    fixture.node.addAccount(second, fixture.usdc, owner)
    const tx = fixture.node.transact([...pays(first, 5n, fixture.usdc), ...pays(second, 7n, fixture.usdc)])
    expect(await fixture.found()).toEqual([[tx, `${fixture.usdc}:${owner}`, 12n]])
  })

  test('moving between accounts of one owner, and a token of another mint, count for nothing', async () => {
    const [first, second] = [fixture.associated, newAddress()]
    const fake = fixture.node.addMint(6)
    fixture.node.transact([
      { account: first, token: { mint: fixture.usdc, owner, before: 5n, after: 0n } },
      { account: second, token: { mint: fixture.usdc, owner, before: 0n, after: 5n } },
      { account: owner },
    ])
    fixture.node.transact([...pays(newAddress(), 5n, fake), { account: owner }])
    expect(await fixture.found()).toEqual([])
  })

  test('of several payers none is named', async () => {
    const { associated: account } = fixture
    const another: Effect = {
      account: newAddress(),
      token: { mint: fixture.usdc, owner: newAddress(), before: 1n, after: 0n },
    }
    fixture.node.transact([...pays(account, 5n, fixture.usdc), another])
    const { transfers } = await drain(fixture.reader(), watched, { cursor: fixture.start })
    expect(transfers[0]?.from).toBeNull()
  })

  test('a history of many pages is read to its known end, in scans of bounded length, each transfer once', async () => {
    const { associated: account } = fixture
    const sent = Array.from({ length: 23 }, () => fixture.node.transact(pays(account, 1n, fixture.usdc)))
    const bounds = { signaturesPerPage: 4, transactionsPerScan: 5 }
    const transfers = await fixture.found(fixture.start, bounds)
    expect(new Set(transfers.map(([tx]) => tx))).toEqual(new Set(sent))
    const { cursor } = await drain(fixture.reader(bounds), watched, { cursor: fixture.start })
    expect(cursor.final.height).toBe(fixture.node.slot)
  })
})
