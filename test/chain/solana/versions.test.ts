import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createSolanaReader } from '../../../src/chain/solana/reader.ts'
import type { Effect } from '../../support/solana-ledger.ts'
import {
  openSolanaFixture,
  pays,
  type SolanaFixture,
  solana,
  solanaStrategies,
  watched,
} from '../../support/solana-watch.ts'

const refused = { error: { code: -32015, message: 'Transaction version (2) is not supported' } }

/** Refuses one transaction for its version. */
function hidesVersion({ node }: SolanaFixture, tx: string): void {
  node.lie(({ method, params }) =>
    (method === 'getTransaction' && params[0] === tx) ||
    (method === 'getBlock' &&
      params[0] === 1002 &&
      (params[1] as { transactionDetails: string }).transactionDetails !== 'none')
      ? refused
      : undefined,
  )
}

/** As old transactions do, which do not say whose the balance of a token account is. */
function withoutOwner({ usdc, associated: account }: SolanaFixture, before: bigint, after: bigint): Effect[] {
  return [{ account, token: { mint: usdc, owner: undefined as never, before, after } }]
}

describe.each(solanaStrategies)('%s', (strategy) => {
  let fixture: SolanaFixture
  let unread: object[]
  beforeEach(async () => {
    fixture = await openSolanaFixture(strategy)
    unread = []
  })
  afterEach(() => fixture.node.stop())

  const pay = (amount: bigint) => fixture.node.transact(pays(fixture.associated, amount, fixture.usdc))
  const openReader = () =>
    createSolanaReader(fixture.settings(), {
      solanaStrategy: strategy,
      bounds: { quotaWaitMs: 0 },
      observeUnread: (one) => unread.push(one),
    })
  const scan = () => openReader().scan({ cursor: fixture.start, startHeight: null, watched })
  const around = [
    { from: 1001n, to: 1001n },
    { from: 1003n, to: 1003n },
  ]

  test('the slot of a transaction whose version the library does not know is not proved; reading goes on', async () => {
    const [before, unknown, after] = [pay(1n), pay(2n), pay(3n)]
    hidesVersion(fixture, unknown)
    const { transfers, proved, cursor } = await scan()
    expect(transfers.map(({ tx }) => tx)).toEqual([before, after])
    expect(proved).toEqual(around)
    expect(cursor.final.height).toBe(1003n)
    const tx = strategy === 'by_block' ? null : unknown
    expect(unread).toEqual([{ network: solana, reason: 'version', slot: 1002n, tx }])
  })

  test('the slot of a transaction that does not say whose a balance is is not proved; reading goes on', async () => {
    const before = pay(1n)
    const nameless = fixture.node.transact(withoutOwner(fixture, 1n, 3n))
    const beside = fixture.node.transact(pays(fixture.associated, 4n, fixture.usdc), { together: true })
    const after = pay(3n)
    const { transfers, proved, cursor } = await scan()
    expect(transfers.map(({ tx }) => tx).toSorted()).toEqual([before, beside, after].toSorted())
    expect(proved).toEqual(around)
    expect(cursor.final.height).toBe(1003n)
    expect(unread).toEqual([{ network: solana, reason: 'owner', slot: 1002n, tx: nameless }])
    const range = await openReader().readRange({ from: 1001n, to: 1003n, watched })
    expect(range).toMatchObject({ proved: around, reached: 1003n })
  })
})
