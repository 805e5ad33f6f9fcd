import { afterAll, beforeAll, expect, test } from 'vitest'
import { showDeposits } from '../../src/store/show-deposit.ts'
import { until } from '../support/until.ts'
import { startWorld, type World } from '../support/world.ts'

const withinMs = 90_000

const stack = new AsyncDisposableStack()
let world: World

beforeAll(async () => {
  world = await startWorld({}, stack)
})
afterAll(() => stack.disposeAsync())

/** Waits until the deposit of that transaction is in that state, with that mismatch open. */
function deposit(tx: string, { state, kind }: { state: string; kind: string }) {
  return until(
    `${kind} of ${tx}`,
    async () => {
      const [shown] = await showDeposits(world.db, tx)
      const open = shown?.mismatches.filter(({ cleared_at }) => cleared_at === null).map((one) => one.kind)
      return shown?.deposit.state === state && open?.includes(kind) ? { shown, open } : null
    },
    withinMs,
  )
}

test('a deposit all of whose webhooks are lost is reconciled, and the loss is named', async () => {
  world.service.faults.set({ dropWebhookRate: 1 })
  const txs = [
    await world.pay({ network: 'base', symbol: 'USDC', owner: 'shop', amount: '3' }),
    await world.pay({ network: 'solana', symbol: 'USDC', owner: 'savings', amount: '4' }),
  ]
  const found = await Promise.all(
    txs.map((tx) => deposit(tx, { state: 'reconciled', kind: 'webhook_missing' })),
  )
  world.service.faults.set({ dropWebhookRate: 0 })
  for (const { shown, open } of found) {
    expect(open).toEqual(['webhook_missing'])
    expect(shown.matrix.deposit).toEqual({ webhook: 'absent', api: 'agrees', chain: 'agrees' })
    expect(shown.evidence.some(({ source }) => source === 'webhook')).toBe(false)
    expect(shown.journals).toHaveLength(2)
  }
})

test('a forward that falls short is settled with what arrived, and the shortage is named to the unit', async () => {
  world.service.faults.set({ shortForwardRate: 1 })
  const tx = await world.pay({ network: 'arbitrum', symbol: 'USDC', owner: 'payroll', amount: '20' })
  const { shown, open } = await deposit(tx, { state: 'settled', kind: 'settlement_short' })
  world.service.faults.set({ shortForwardRate: 0 })
  expect(open).toEqual(['settlement_short'])
  // 20 less 0.1 % is what is claimed; a tenth less than that is what arrives.
  expect(shown.mismatches[0]?.detail).toEqual({ stated: '19980000', delivered: '17982000' })
  expect(shown.journals[1]?.transfers.map(({ amount }) => amount)).toEqual([
    '20.000000',
    '17.982000',
    '0.020000',
  ])
})
