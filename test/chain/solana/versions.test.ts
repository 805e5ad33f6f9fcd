import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  openSolanaFixture,
  pays,
  type SolanaFixture,
  solanaWays,
  watched,
} from '../../support/solana-watch.ts'

const refused = { error: { code: -32015, message: 'Transaction version (2) is not supported' } }

describe.each(solanaWays)('%s', (way) => {
  let fixture: SolanaFixture
  beforeEach(async () => {
    fixture = await openSolanaFixture(way)
  })
  afterEach(() => fixture.node.stop())

  test('the slot of a transaction whose version the library does not know is not proved; reading goes on', async () => {
    const [before, unknown, after] = [1n, 2n, 3n].map((amount) =>
      fixture.node.transact(pays(fixture.associated, amount, fixture.usdc)),
    )
    fixture.node.lie(({ method, params }) =>
      (method === 'getTransaction' && params[0] === unknown) ||
      (method === 'getBlock' &&
        params[0] === 1002 &&
        (params[1] as { transactionDetails: string }).transactionDetails !== 'none')
        ? refused
        : undefined,
    )
    const { transfers, proved, cursor } = await fixture
      .reader()
      .scan({ cursor: fixture.start, startHeight: null, watched })
    expect(transfers.map(({ tx }) => tx)).toEqual([before, after])
    expect(proved).toEqual([
      { from: 1001n, to: 1001n },
      { from: 1003n, to: 1003n },
    ])
    expect(cursor.final.height).toBe(1003n)
  })
})
