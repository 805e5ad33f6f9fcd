import { pino } from 'pino'
import { expect, test } from 'vitest'
import { makeSecret } from '../../src/outbox/signing-key.ts'
import { startService } from '../../src/service/service.ts'
import { checkSettings, type DepositServiceSettings } from '../../src/service/settings.ts'
import { startAnvil } from '../support/anvil.ts'
import { emptyDatabase } from '../support/postgres.ts'
import { networkSettings, serviceSettings, unreachableNetworks } from './fixtures.ts'

const good = serviceSettings('postgres://127.0.0.1:1/none', unreachableNetworks)
const [network] = unreachableNetworks
if (network === undefined) throw new Error('the fixtures have networks')
const { quotes } = good
const withNetwork = (changes: object) => ({ networks: [{ ...network, ...changes }] })
const log = pino({ level: 'silent' })

test('good settings pass', () => expect(() => checkSettings(good)).not.toThrow())

function webhook(url: string) {
  return { url, secret: makeSecret('v1') }
}

test.each<[string, Partial<DepositServiceSettings>, string]>([
  ['no RPC address', withNetwork({ rpcUrls: [] }), 'network mainnet has no RPC URL'],
  [
    'an empty RPC address',
    withNetwork({ rpcUrls: [''] }),
    'network mainnet has an RPC URL that is not http or https',
  ],
  ['an EVM network without a chain id', withNetwork({ chainId: null }), 'network mainnet needs a chain id'],
  [
    'one symbol twice',
    withNetwork({ assets: [...network.assets, ...network.assets] }),
    'two assets called ETH',
  ],
  ['a network twice', { networks: [network, network] }, 'network mainnet is listed twice'],
  [
    'a key of another form',
    { apiKeys: [{ key: 'a-key-of-my-own-choice', scope: 'read' }] },
    'an API key is malformed',
  ],
  [
    'a webhook secret that is none',
    { webhooks: [{ url: 'http://127.0.0.1:1', secret: 'x' }] },
    'is not whsec_',
  ],
  [
    'a webhook with a password in its address',
    { webhooks: [webhook('http://name:a-password@shop.example')] },
    'the URL of webhook 1 must not contain a user name or password',
  ],
  [
    'one webhook in two spellings',
    { webhooks: [webhook('http://shop.example/a'), webhook('HTTP://shop.example:80/a')] },
    'a webhook is listed twice',
  ],
  [
    'a private webhook where none is allowed',
    { webhooks: [webhook('http://127.0.0.1:1')], allowPrivateWebhooks: false },
    'the address of a webhook is private',
  ],
  ['a rate that is no decimal', { quotes: { ...quotes, prices: { 'ETH/USDC': '1e3' } } }, 'quote ETH/USDC'],
  ['a fee of everything', { quotes: { ...quotes, feeBasisPoints: 10_000 } }, 'feeBasisPoints is not'],
  ['a spread of a part', { quotes: { ...quotes, spreadBasisPoints: 0.5 } }, 'spreadBasisPoints is not'],
  [
    'prices from no web address',
    { quotes: { ...quotes, source: { url: 'file:///etc', everyMs: 1000, staleAfterMs: 1000 } } },
    'the URL of the price source is not http or https',
  ],
  [
    'prices that are stale at once',
    { quotes: { ...quotes, source: { url: 'http://127.0.0.1:1', everyMs: 1000, staleAfterMs: 0 } } },
    'staleAfterMs of the price source is not',
  ],
  ['a sweep of an unknown asset', { sweep: { minimums: { 'base/DAI': '1' } } }, 'base/DAI'],
  [
    'a minimum finer than the asset',
    { sweep: { minimums: { 'mainnet/USDC': '0.0000001' } } },
    'sweep minimum mainnet/USDC',
  ],
  ['no patience', { replaceAfterMs: 0 }, 'replaceAfterMs is not positive'],
  ['a fault rate above one', { faults: { seed: 'a', dropWebhookRate: 2 } }, 'dropWebhookRate is not'],
  ['an admin port without faults', { faults: null, adminPort: 0 }, 'adminPort requires faults'],
  ['a host that is a name', { host: 'localhost' }, 'host localhost is not an IP address'],
  ['a certificate that is none', { tls: { cert: 'x', key: 'y' } }, 'tls is not a certificate and its key'],
  ['a rate of nothing', { rateLimit: { perSecond: 0, burst: 1 } }, 'rateLimit.perSecond is not above 0'],
  ['a burst of nothing', { rateLimit: { perSecond: 1, burst: 0.5 } }, 'rateLimit.burst is below 1'],
  ['no connection', { limits: { connectionsMax: 0 } }, 'limits.connectionsMax is not a whole number'],
  ['no pause', { pollEveryMs: 0 }, 'pollEveryMs is not'],
])('%s is refused by name', (...[, changes, message]) => {
  expect(() => checkSettings({ ...good, ...changes })).toThrow(message)
})

test('every fault is named at once, and no secret', () => {
  const apiKeys = [{ key: 'short-secret', scope: 'read' as const }]
  const check = () => checkSettings({ ...good, apiKeys, pollEveryMs: -1 })
  expect(check).toThrow(/API key is malformed.*pollEveryMs/)
  expect(check).not.toThrow('short-secret')
})

test('it starts only on the chain, with the decimals and with the seed that belong together', async () => {
  const [anvil, database] = await Promise.all([startAnvil(1), emptyDatabase()])
  const native = { symbol: 'ETH', decimals: 18, code: 'native' }
  const mainnet = { name: 'mainnet', family: 'evm', chainId: 1, url: anvil.url, tokens: [native] } as const
  const start = async (changes: object, others: Partial<DepositServiceSettings> = {}) => {
    const networks = [networkSettings({ ...mainnet, tokens: [native], ...changes })]
    const service = await startService(serviceSettings(database.url, networks, others), { log })
    await service.stop()
  }
  await start({})
  await expect(start({ chainId: 10 })).rejects.toThrow('the RPC of mainnet serves chain 1, not 10')
  await expect(start({ tokens: [{ ...native, decimals: 8 }] })).rejects.toThrow('has 18 decimals, not 8')
  await expect(start({}, { seed: 'ab'.repeat(32) })).rejects.toThrow('was created with another seed')
  await expect(start({ url: 'http://127.0.0.1:1/a-secret-path' })).rejects.toThrow(
    /^remote_failed.*reading mainnet(?!.*secret)/,
  )
  await anvil.stop()
  await database.drop()
})
