import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import { parseEther } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startService } from '../../../src/service/service.ts'
import { type EvmWorld, newChannel, openEvmWorld, untilOne } from '../evm-world.ts'

const stack = new AsyncDisposableStack()
let world: EvmWorld
let url: string
let answer = '{}'

beforeAll(async () => {
  const server = createServer((_request, response) => response.end(answer))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  stack.defer(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  world = await openEvmWorld(stack)
  const prices = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const source = { url: prices, everyMs: 50, staleAfterMs: 60_000 }
  const quotes = { prices: {}, source, feeBasisPoints: 10, spreadBasisPoints: 100 }
  const service = await startService(world.settings({ quotes }), { log: pino({ level: 'silent' }) })
  stack.defer(() => service.stop())
  url = service.url
})

afterAll(() => stack.disposeAsync())

test('a deposit is held until a source tells its price, and gets it less the spread', async () => {
  const address = await newChannel(world, url, { id: 'shop' })
  await world.anvil.client.sendTransaction({ to: address, value: parseEther('0.01') })
  expect(await untilOne(world, url, { owner: 'shop', status: 'held' })).toMatchObject({
    reason: 'price_missing',
  })
  answer = '{"ETH/USDC":"3000"}'
  const { rate, fee, destination } = await untilOne(world, url, { owner: 'shop', status: 'settled' })
  expect({ rate, fee: fee?.amount, amount: destination.amount }).toEqual({
    rate: '2970',
    fee: 29_700_000_000_000_000n.toString(),
    amount: 29_670_300_000_000_000_000n.toString(),
  })
})
