import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { assetKey } from '../../../src/core/asset.ts'
import type { Lie } from '../../support/solana-node.ts'
import { openSolanaFixture, owner, pays, type SolanaFixture, solana } from '../../support/solana-watch.ts'

let fixture: SolanaFixture
beforeEach(async () => {
  fixture = await openSolanaFixture()
  fixture.node.transact(pays(fixture.associated, 5n, fixture.usdc))
})
afterEach(() => fixture.node.stop())

const behind = { error: { code: -32016, message: 'Minimum context slot has not been reached' } }
const late = { error: { code: -32004, message: 'Block not available for slot' } }

/** Refuses the first calls of a method, as many as said. */
function refuseFirst(refused: string, count: number, answer: ReturnType<Lie> = behind): void {
  let left = count
  fixture.node.lie(({ method }) => (method === refused && left-- > 0 ? answer : undefined))
}

const bounds = { slotMs: 1 }
const asset = () => assetKey(solana, fixture.usdc)

async function held(): Promise<readonly bigint[]> {
  const reading = await fixture
    .reader(bounds)
    .readBalances({ pairs: [{ address: owner, asset: asset() }], at: null })
  return reading.balances
}

describe('a node that has not come to a slot yet', () => {
  test.each(['getTokenAccountsByOwner', 'getMultipleAccounts'])(
    'is asked for balances again: %s',
    async (method) => {
      fixture.node.addAccount(fixture.associated, fixture.usdc, owner)
      refuseFirst(method, 3)
      expect(await held()).toEqual([5n])
    },
  )

  test('is asked again for the block of a reading of balances', async () => {
    fixture.node.addAccount(fixture.associated, fixture.usdc, owner)
    refuseFirst('getBlock', 3, late)
    expect(await held()).toEqual([5n])
  })

  test.each(['getTokenAccountsByOwner', 'getSignaturesForAddress'])(
    'is asked again by a scan: %s',
    async (method) => {
      refuseFirst(method, 3)
      expect(await fixture.found(fixture.start, bounds)).toHaveLength(1)
    },
  )

  test('is asked again for the history of a balance', async () => {
    refuseFirst('getSignaturesForAddress', 3)
    const request = { address: owner, asset: asset(), from: 1000n, to: 1002n }
    const history = await fixture.reader(bounds).readBalanceHistory?.(request)
    expect(history?.balances).toContainEqual({ height: 1001n, amount: 5n })
  })

  test('has failed if it stays behind', async () => {
    refuseFirst('getMultipleAccounts', Infinity)
    fixture.node.calls.length = 0
    await expect(held()).rejects.toThrow(/solana node .*accounts/)
    const asked = fixture.node.calls.filter(({ method }) => method === 'getMultipleAccounts')
    expect(asked).toHaveLength(8)
  })
})
