import { afterEach, beforeEach, expect, test } from 'vitest'
import type { ReaderBounds } from '../../../src/chain/options.ts'
import type { BalanceHistory } from '../../../src/chain/types.ts'
import { assetKey } from '../../../src/core/asset.ts'
import { type Effect, newAddress } from '../../support/solana-ledger.ts'
import { openSolanaFixture, owner, payer, type SolanaFixture, solana } from '../../support/solana-watch.ts'

let fixture: SolanaFixture
beforeEach(async () => {
  fixture = await openSolanaFixture()
})
afterEach(() => fixture.node.stop())

const another = newAddress()

function tokens(account: typeof owner, before: bigint, after: bigint): Effect {
  return { account, token: { mint: fixture.usdc, owner, before, after } }
}

/** What is told of slots 1001 to 1010, as heights and amounts. */
async function reported(code: string, bounds: Partial<ReaderBounds> = {}): Promise<[bigint, bigint][]> {
  const { balances } = await read(code, bounds)
  return balances.map(({ height, amount }) => [height, amount])
}

async function read(code: string, bounds: Partial<ReaderBounds> = {}): Promise<BalanceHistory> {
  const { readBalanceHistory } = fixture.reader(bounds)
  const asset = code === 'native' ? assetKey(solana, code) : assetKey(solana, fixture.usdc)
  const history = await readBalanceHistory?.({ address: owner, asset, from: 1001n, to: 1010n })
  return history ?? { balances: [], reached: 0n }
}

test('the balances of all accounts of an owner are told together, of one that is closed too', async () => {
  const { node, usdc, associated } = fixture
  node.addAccount(associated, usdc, owner)
  node.addAccount(another, usdc, owner)
  node.transact([tokens(associated, 0n, 5n)])
  node.slot = 1003n
  node.transact([tokens(another, 0n, 7n)])
  node.slot = 1006n
  node.transact([tokens(another, 7n, 0n), tokens(associated, 5n, 9n)])
  node.closeAccount(another)
  const balances: [bigint, bigint][] = [
    [1001n, 5n],
    [1003n, 5n],
    [1004n, 12n],
    [1006n, 12n],
    [1007n, 9n],
  ]
  expect(await reported('usdc')).toEqual(balances)
})

test('an account that was made, filled, emptied and closed in one transaction changes nothing', async () => {
  const { node } = fixture
  node.transact([tokens(another, 0n, 0n), tokens(fixture.associated, 0n, 5n)])
  expect(await reported('usdc')).toEqual([[1001n, 5n]])
})

test('several transactions of one slot are told in the order of the block, not of the list', async () => {
  const { node, associated } = fixture
  node.flipSlots()
  node.transact([tokens(associated, 0n, 5n)])
  node.transact([tokens(associated, 5n, 2n)], { together: true })
  node.transact([tokens(associated, 2n, 9n)], { together: true })
  node.lie((call) => {
    if (call.method !== 'getBlock') return undefined
    const { result } = node.honestly(call) as { result: { transactions?: object[] } }
    return { result: { ...result, transactions: result.transactions?.toReversed() } }
  })
  expect(await reported('usdc')).toEqual([[1001n, 9n]])
})

test('coin is what the address itself holds: with rent that came back, less what failed ones cost', async () => {
  const { node } = fixture
  node.transact([{ account: payer }, { account: owner, lamports: [0n, 100n] }])
  node.transact([{ account: owner, lamports: [100n, 95n] }], { fee: 5n, failed: true })
  node.slot = 1004n
  const closed = { ...tokens(another, 0n, 0n), lamports: [2000n, 0n] as const }
  node.transact([{ account: payer }, { account: owner, lamports: [95n, 2095n] }, closed])
  const balances: [bigint, bigint][] = [
    [1001n, 100n],
    [1002n, 95n],
    [1004n, 95n],
    [1005n, 2095n],
  ]
  expect(await reported('native')).toEqual(balances)
})

test('tokens that failed transactions name have not moved', async () => {
  const { node, associated } = fixture
  node.transact([tokens(associated, 0n, 5n)])
  node.transact([tokens(associated, 5n, 50n)], { failed: true })
  expect(await reported('usdc')).toEqual([
    [1001n, 5n],
    [1002n, 5n],
  ])
})

test('what was before the stretch and what came behind it shows whether its ends fit', async () => {
  const { node, associated } = fixture
  node.slot = 990n
  node.transact([tokens(associated, 0n, 3n)])
  node.slot = 1004n
  node.transact([tokens(associated, 3n, 5n)])
  node.slot = 1014n
  node.transact([tokens(associated, 6n, 8n)])
  expect(await reported('usdc')).toEqual([[1004n, 3n]])
})

test('a transaction of an unknown version tells no balance, and those around it do', async () => {
  const { node, associated } = fixture
  node.transact([tokens(associated, 0n, 5n)])
  const unknown = node.transact([tokens(associated, 5n, 6n)])
  node.slot = 1006n
  node.transact([tokens(associated, 6n, 7n)])
  node.lie(({ method, params }) =>
    method === 'getTransaction' && params[0] === unknown
      ? { error: { code: -32015, message: 'Transaction version (2) is not supported' } }
      : undefined,
  )
  expect(await reported('usdc')).toEqual([[1007n, 7n]])
})

test('no more slots are read than one scan reads, and what was reached is told', async () => {
  const { node, associated } = fixture
  for (let count = 0n; count < 6n; count++) node.transact([tokens(associated, count, count + 1n)])
  node.calls.length = 0
  expect(await read('usdc', { transactionsPerScan: 2 })).toEqual({
    balances: [
      { height: 1001n, amount: 1n },
      { height: 1002n, amount: 2n },
    ],
    reached: 1002n,
  })
  expect(node.calls.filter(({ method }) => method === 'getTransaction')).toHaveLength(3)
})

test('a listed transaction that the node does not have is a fault', async () => {
  fixture.node.transact([tokens(fixture.associated, 0n, 5n)])
  fixture.node.lie(({ method }) => (method === 'getTransaction' ? { result: null } : undefined))
  await expect(reported('usdc')).rejects.toThrow('it is listed, but cannot be read')
})
