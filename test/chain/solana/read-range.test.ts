import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  openSolanaFixture,
  pays,
  type SolanaFixture,
  solanaStrategies,
  watched,
} from '../../support/solana-watch.ts'

describe.each(solanaStrategies)('%s', (strategy) => {
  let fixture: SolanaFixture
  beforeEach(async () => {
    fixture = await openSolanaFixture(strategy)
  })
  afterEach(() => fixture.node.stop())

  /** Payments of 1 to `count` in the slots from 1001 on. */
  function pay(count: number): void {
    for (let amount = 1n; amount <= count; amount++) {
      fixture.node.transact(pays(fixture.associated, amount, fixture.usdc))
    }
  }

  async function read(from: bigint, to: bigint, bounds = {}) {
    const { transfers, ...rest } = await fixture.reader(bounds).readRange({ from, to, watched })
    return { amounts: transfers.map(({ amount }) => amount), ...rest }
  }

  test('what is in the stretch is found and nothing else', async () => {
    pay(5)
    expect(await read(1002n, 1004n)).toEqual({
      amounts: [2n, 3n, 4n],
      movements: [],
      proved: [{ from: 1002n, to: 1004n }],
      dissent: [],
      reached: 1004n,
    })
  })

  test('a stretch that begins or ends with slots without a block is read to its end', async () => {
    fixture.node.skipped.add(1001n).add(1003n).add(1004n)
    fixture.node.slot = 1001n
    fixture.node.transact(pays(fixture.associated, 1n, fixture.usdc))
    fixture.node.slot = 1005n
    expect(await read(1001n, 1004n)).toMatchObject({ amounts: [1n], reached: 1004n })
    expect(await read(1003n, 1004n)).toMatchObject({ amounts: [], reached: 1004n })
  })

  test('a stretch above what is final is read to the final slot, and what is not final at all not', async () => {
    pay(2)
    expect(await read(1002n, 2000n)).toMatchObject({ amounts: [2n], reached: 1002n })
    expect(await read(1003n, 2000n)).toMatchObject({ amounts: [], proved: [], reached: 1002n })
  })

  test('a long stretch is read in parts of whole slots', async () => {
    pay(6)
    const bounds = { slotsPerScan: 2, transactionsPerScan: 2 }
    const first = await read(1001n, 1006n, bounds)
    expect(first).toMatchObject({ amounts: [1n, 2n], proved: [{ from: 1001n, to: 1002n }], reached: 1002n })
    expect(await read(first.reached + 1n, 1006n, bounds)).toMatchObject({ amounts: [3n, 4n], reached: 1004n })
  })
})
