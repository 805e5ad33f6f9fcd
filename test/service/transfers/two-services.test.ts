import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type DepositService, startService } from '../../../src/service/service.ts'
import { type EvmWorld, liquidity, newChannel, openEvmWorld, untilAll, untilSwept } from '../evm-world.ts'

const stack = new AsyncDisposableStack()
let world: EvmWorld
let services: DepositService[]

/** Both see every deposit, and both want to pay it. */
beforeAll(async () => {
  world = await openEvmWorld(stack)
  const settings = world.settings({ sweep: { minimums: {} } })
  const log = pino({ level: 'silent' })
  services = [await startService(settings, { log }), await startService(settings, { log })]
  for (const service of services) stack.defer(() => service.stop())
})

afterAll(() => stack.disposeAsync())

test('two services on one database pay each deposit once and sweep it once', {
  timeout: 240_000,
}, async () => {
  const url = services[0]?.url ?? ''
  const owners = Array.from({ length: 5 }, (_, place) => `channel-${place}`)
  const addresses = await Promise.all(owners.map((id) => newChannel(world, url, { id })))
  const amounts: bigint[] = []
  for (const [place, address] of addresses.entries()) {
    for (const more of [0n, 1n]) {
      const amount = (BigInt(place) * 2n + more + 1n) * 1_000_000n
      await world.token.send(address, amount)
      amounts.push(amount)
    }
  }
  const settled = await untilAll(world, url, { status: 'settled', count: amounts.length })
  await untilSwept(world)
  const paid = (await world.paidBy(liquidity)).map(({ transaction, value }) => `${transaction} ${value}`)
  const stated = settled.map(({ destination }) => `${destination.transaction} ${destination.amount}`)
  expect(paid.toSorted()).toEqual(stated.toSorted())
  for (const [place, address] of addresses.entries()) {
    const swept = (await world.paidBy(address)).reduce((sum, { value }) => sum + value, 0n)
    expect(swept).toBe((amounts[place * 2] ?? 0n) + (amounts[place * 2 + 1] ?? 0n))
  }
})
