import type { RequestListener } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createProviderClient, type ProviderClient } from '../../src/provider/client.ts'
import { startRawService } from '../support/raw-service.ts'

let stack: AsyncDisposableStack
beforeEach(() => {
  stack = new AsyncDisposableStack()
})
afterEach(() => stack.disposeAsync())

async function client(listener: RequestListener): Promise<ProviderClient> {
  const { url } = stack.use(await startRawService(listener))
  return createProviderClient({ url, apiKey: 'key' })
}

test('channels and wallets are created in the spelling of the interface', async () => {
  const bodies: string[] = []
  const addresses = [{ network: 'base', address: '0x1' }]
  const { createChannel, createStableWallet } = await client((request, response) => {
    const created = request.url?.endsWith('channels')
      ? { id: 'c', addresses }
      : { stable_wallet: { id: 'w', deposit_addresses: addresses } }
    void text(request).then((body) => {
      bodies.push(`${request.method} ${request.url} ${request.headers['content-type']} ${body}`)
      return response.end(JSON.stringify(created))
    })
  })
  const channel = { id: 'c', forwardNetwork: 'base', forwardAsset: 'USDC', forwardRecipient: '0x2' }
  expect(await createChannel(channel)).toEqual({ id: 'c', addresses })
  expect(await createStableWallet({ id: 'w' })).toEqual({ id: 'w', addresses })
  expect(bodies).toEqual([
    'POST /v1/channels application/json {"id":"c","forward_network":"base","forward_asset":"USDC","forward_recipient":"0x2"}',
    'POST /v1/stable-wallets application/json {"id":"w"}',
  ])
})

test('an owner without addresses is a fault', async () => {
  const { createStableWallet } = await client((_request, response) =>
    response.writeHead(201).end('{"stable_wallet":{"id":"w","deposit_addresses":[]}}'),
  )
  await expect(createStableWallet({ id: 'w' })).rejects.toMatchObject({
    code: 'remote_failed',
    details: { problem: expect.stringContaining('unexpected answer at stable_wallet.deposit_addresses') },
  })
})
