import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { toTxId } from '../../../src/core/asset.ts'
import type { Effect, Options } from '../../support/solana-ledger.ts'
import { newAddress } from '../../support/solana-ledger.ts'
import {
  openSolanaFixture,
  owner,
  payer,
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

  async function scan() {
    const { transfers } = await fixture.reader().scan({ cursor: fixture.start, startHeight: null, watched })
    return transfers
  }

  function pay(amount: bigint, options: Options = {}): string {
    return fixture.node.transact(pays(fixture.associated, amount, fixture.usdc), options)
  }

  test('what is written to a payment is told with it, by a scan and by its signature', async () => {
    const tx = pay(5n, { memo: 'order 17' })
    pay(6n)
    const [first, second] = await scan()
    expect([first?.memo, second?.memo]).toEqual(['order 17', undefined])
    expect(await fixture.reader().readTransaction(toTxId(tx), watched)).toEqual({
      kind: 'read',
      transfers: [first],
    })
  })

  test('many payments in one block each have their own', async () => {
    for (let amount = 1n; amount <= 5n; amount++) {
      pay(amount, { memo: `number ${amount}`, together: amount > 1n })
    }
    const read = (await scan()).map(({ amount, memo }) => `${amount} ${memo ?? ''}`)
    expect(read.toSorted()).toEqual(['1 number 1', '2 number 2', '3 number 3', '4 number 4', '5 number 5'])
  })

  test('a memo is cut to 256 characters and shows nothing but text', async () => {
    pay(1n, { memo: `a\u0000b\u202Ec\n${'🙂'.repeat(300)}` })
    pay(2n, { memo: '\u0007' })
    const [first, second] = await scan()
    expect(first?.memo).toBe(`abc${'🙂'.repeat(253)}`)
    expect(second).not.toHaveProperty('memo')
  })

  test('where a token keeps a fee, what was sent is told beside what arrived', async () => {
    const fees: Effect[] = [
      { account: newAddress(), token: { mint: fixture.usdc, owner: payer, before: 100n, after: 0n } },
      { account: fixture.associated, token: { mint: fixture.usdc, owner, before: 0n, after: 99n } },
    ]
    fixture.node.transact(fees)
    expect(await scan()).toMatchObject([{ from: payer, amount: 99n, sent: 100n }])
  })

  test('what was sent is not told where it all arrived, or where it went to several', async () => {
    pay(5n)
    const another = { mint: fixture.usdc, owner: newAddress(), before: 0n, after: 4n }
    fixture.node.transact([
      { account: newAddress(), token: { mint: fixture.usdc, owner: payer, before: 10n, after: 0n } },
      { account: fixture.associated, token: { mint: fixture.usdc, owner, before: 0n, after: 5n } },
      { account: newAddress(), token: another },
    ])
    for (const transfer of await scan()) expect(transfer).not.toHaveProperty('sent')
  })
})
