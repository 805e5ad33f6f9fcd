import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Address } from '../../../src/core/asset.ts'
import type { Effect } from '../../support/solana-ledger.ts'
import {
  openSolanaFixture,
  owner,
  payer,
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

  /** What was paid to the owner and what else changed his balances, by asset. */
  async function read(effects: readonly Effect[], options: { failed?: boolean; fee?: bigint } = {}) {
    const tx = fixture.node.transact(effects, options)
    const { transfers, movements } = await fixture
      .reader()
      .scan({ cursor: fixture.start, startHeight: null, watched })
    expect(movements.every((movement) => movement.tx === tx && movement.address === owner)).toBe(true)
    return {
      paid: transfers.map(({ asset, amount }) => [asset.split('/')[1], amount]),
      moved: movements.map(({ asset, change }) => [asset.split('/')[1], change]),
    }
  }

  function tokens(before: bigint, after: bigint): Effect {
    return { account: fixture.associated, token: { mint: fixture.usdc, owner, before, after } }
  }

  test('what a watched owner pays, and the fee he bears, are movements', async () => {
    const effects: Effect[] = [
      { account: owner, lamports: [100n, 60n] },
      { account: payer, lamports: [0n, 35n] },
      tokens(9n, 2n),
    ]
    expect(await read(effects, { fee: 5n })).toEqual({
      paid: [],
      moved: [
        [fixture.usdc, -7n],
        ['native', -40n],
      ],
    })
  })

  test('who is paid and bears the fee himself has both: the whole payment and the fee', async () => {
    const effects: Effect[] = [
      { account: owner, lamports: [100n, 195n] },
      { account: payer, lamports: [100n, 0n] },
    ]
    expect(await read(effects, { fee: 5n })).toEqual({ paid: [['native', 100n]], moved: [['native', -5n]] })
  })

  test('what left has its recipients, and rent goes to the owner of the token account', async () => {
    const account = 'So1anaTokenAccount111111111111111111111111' as Address
    fixture.node.transact(
      [
        { account: owner, lamports: [9_000_000n, 6_960_715n] },
        {
          account,
          lamports: [0n, 2_039_280n],
          token: { mint: fixture.usdc, owner: payer, before: 0n, after: 7n },
        },
        tokens(9n, 2n),
      ],
      { fee: 5n },
    )
    const { movements } = await fixture.reader().readRange({ from: 1001n, to: 1001n, watched })
    expect(movements.map(({ recipients }) => recipients)).toEqual([[payer], [payer]])
  })

  test('a failed transaction costs its fee', async () => {
    const effects: Effect[] = [{ account: owner, lamports: [100n, 95n] }, tokens(0n, 7n)]
    expect(await read(effects, { fee: 5n, failed: true })).toEqual({ paid: [], moved: [['native', -5n]] })
  })

  test('rent that comes back, and wrapped coin that is unwrapped, move and are nobody’s payment', async () => {
    const effects: Effect[] = [
      { account: payer, lamports: [10n, 5n] },
      { account: owner, lamports: [100n, 2_039_380n] },
      { ...tokens(0n, 0n), lamports: [2_039_280n, 0n] },
    ]
    expect(await read(effects, { fee: 5n })).toEqual({ paid: [], moved: [['native', 2_039_280n]] })
  })

  test('a movement is told with its place in the chain', async () => {
    const tx = fixture.node.transact([{ account: owner, lamports: [9n, 4n] }, { account: payer }], {
      fee: 5n,
    })
    const { movements } = await fixture.reader().readRange({ from: 1001n, to: 1001n, watched })
    expect(movements).toEqual([
      {
        network: solana,
        tx,
        index: `native:${owner}`,
        asset: 'solana/native',
        address: owner,
        change: -5n,
        recipients: [],
        height: 1001n,
        blockHash: 'hash1001',
      },
    ])
  })
})
