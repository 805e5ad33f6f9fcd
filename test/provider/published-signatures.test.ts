import { expect, test } from 'vitest'
import { createAuthorize } from '../../src/provider/authorize.ts'
import { serviceAuth } from '../support/service-auth.ts'

/** Signatures that exchanges publish as examples; otherwise computed with `openssl dgst -mac HMAC`. */

type Example = {
  url: string
  body?: string
  at: string | number
  nonce?: string
  sends: Record<string, string>
}

const schemes: Record<string, { section: object; secrets: Record<string, string>; examples: Example[] }> = {
  // Signature published at docs.kraken.com/api/docs/guides/spot-rest-auth; the header of the nonce is that of
  // docs.kraken.com/api/docs/guides/embed-rest-auth.
  Kraken: {
    section: {
      template: '{pathname}{sha256:{nonce}{body}}',
      algorithm: 'sha512',
      encoding: 'base64',
      secretEncoding: 'base64',
      header: 'API-Sign',
      apiKey: { header: 'API-Key' },
      nonce: { header: 'API-Nonce', form: 'increasing' },
    },
    secrets: {
      SERVICE_API_KEY: 'key',
      SERVICE_API_SECRET:
        'kQH5HW/8p1uGOVjbgWA7FunAmGO8lsSUXNsu3eow76sz84Q18fWxnyRzBHCd3pd5nE9qa99HAZtuZuj6F1huXg==',
    },
    examples: [
      {
        url: 'https://api.kraken.com/0/private/AddOrder',
        body: 'nonce=1616492376594&ordertype=limit&pair=XBTUSD&price=37500&type=buy&volume=1.25',
        at: 0,
        nonce: '1616492376594',
        sends: {
          'API-Key': 'key',
          'API-Nonce': '1616492376594',
          'API-Sign':
            '4/dpxb3iT4tp/ZCVEwSnEsLxx0bqyhLpdfOpc6fn7OR8+UClSV5n9E6aSS8MPtnRfp32bAb0nmbRn6H8ndwLUQ==',
        },
      },
    ],
  },
  // Published at www.gate.io/docs/developers/apiv4, "APIv4 signed request".
  'Gate.io': {
    section: {
      template: '{method}\n{pathname}\n{query}\n{sha512-hex:{body}}\n{timestamp}',
      algorithm: 'sha512',
      header: 'SIGN',
      apiKey: { header: 'KEY' },
      timestamp: { header: 'Timestamp' },
    },
    secrets: { SERVICE_API_KEY: 'key', SERVICE_API_SECRET: 'secret' },
    examples: [
      {
        url: 'https://api.gateio.ws/api/v4/futures/orders?contract=BTC_USD&status=finished&limit=50',
        at: 1_541_993_715_999,
        sends: {
          KEY: 'key',
          Timestamp: '1541993715',
          SIGN: '55f84ea195d6fe57ce62464daaa7c3c02fa9d1dde954e4c898289c9a2407a3d6fb3faf24deff16790d726b66ac9f74526668b13bd01029199cc4fcc522418b8a',
        },
      },
      {
        url: 'https://api.gateio.ws/api/v4/futures/orders',
        body: '{"contract":"BTC_USD","type":"limit","size":100,"price":6800,"time_in_force":"gtc"}',
        at: 1_541_993_715_000,
        sends: {
          KEY: 'key',
          Timestamp: '1541993715',
          SIGN: 'eae42da914a590ddf727473aff25fc87d50b64783941061f47a3fdb92742541fc4c2c14017581b4199a1418d54471c269c03a38d788d802e2c306c37636389f0',
        },
      },
    ],
  },
  // Published at www.bitmex.com/app/apiKeysUsage.
  BitMEX: {
    section: {
      template: '{method}{path}{timestamp}{body}',
      header: 'api-signature',
      apiKey: { header: 'api-key' },
      timestamp: { header: 'api-expires', ahead: '60s' },
    },
    secrets: {
      SERVICE_API_KEY: 'LAqUlngMIQkIUjXMUreyu3qn',
      SERVICE_API_SECRET: 'chNOOS4KvNXR_Xq4k4c9qsfoKWvnDecLATCRlcBwyKDYnWgO',
    },
    examples: [
      {
        url: 'https://www.bitmex.com/api/v1/instrument?filter=%7B%22symbol%22%3A+%22XBTM15%22%7D',
        at: (1_518_064_237 - 60) * 1000,
        sends: {
          'api-key': 'LAqUlngMIQkIUjXMUreyu3qn',
          'api-expires': '1518064237',
          'api-signature': 'e2f422547eecb5b3cb29ade2127e21b858b235b386bfa45e1c1756eb3383919f',
        },
      },
      {
        url: 'https://www.bitmex.com/api/v1/order',
        body: '{"symbol":"XBTM15","price":219.0,"clOrdID":"mm_bitmex_1a/oemUeQ4CAJZgP3fjHsA","orderQty":98}',
        at: (1_518_064_238 - 60) * 1000,
        sends: {
          'api-key': 'LAqUlngMIQkIUjXMUreyu3qn',
          'api-expires': '1518064238',
          'api-signature': '1749cd2ccae4aa49048ae09f0b95110cee706e0944e6a14ad0b3a8cb45bd336b',
        },
      },
    ],
  },
  // Source of the scheme: docs.cdp.coinbase.com/exchange/rest-api/authentication.
  'Coinbase Exchange': {
    section: {
      template: '{timestamp}{method}{path}{body}',
      encoding: 'base64',
      secretEncoding: 'base64',
      header: 'CB-ACCESS-SIGN',
      apiKey: { header: 'CB-ACCESS-KEY' },
      timestamp: { header: 'CB-ACCESS-TIMESTAMP' },
      headers: { 'CB-ACCESS-PASSPHRASE': { secret: 'SERVICE_API_PASSPHRASE' } },
    },
    secrets: {
      SERVICE_API_KEY: 'coinbase-key',
      SERVICE_API_SECRET: 'Y29pbmJhc2UgZXhjaGFuZ2Ugc2VjcmV0IG9mIDMyIGJ5',
      SERVICE_API_PASSPHRASE: 'pass phrase',
    },
    examples: [
      {
        url: 'https://api.exchange.coinbase.com/accounts?limit=25',
        at: 1_700_000_000_000,
        sends: {
          'CB-ACCESS-KEY': 'coinbase-key',
          'CB-ACCESS-PASSPHRASE': 'pass phrase',
          'CB-ACCESS-TIMESTAMP': '1700000000',
          'CB-ACCESS-SIGN': 'eBhzSyZuMCcZDXFbJPWG0bmGQLhWP0AvHbdiYoNJPdM=',
        },
      },
    ],
  },
  // Source of the scheme: bybit-exchange.github.io/docs/v5/guide, "Parameters for Authenticated Endpoints".
  Bybit: {
    section: {
      template: '{timestamp}{apiKey}5000{query}{body}',
      header: 'X-BAPI-SIGN',
      apiKey: { header: 'X-BAPI-API-KEY' },
      timestamp: { header: 'X-BAPI-TIMESTAMP', unit: 'ms' },
      headers: { 'X-BAPI-RECV-WINDOW': '5000' },
    },
    secrets: { SERVICE_API_KEY: 'bybit-key', SERVICE_API_SECRET: 'bybit-secret' },
    examples: [
      {
        url: 'https://api.bybit.com/v5/order/realtime?category=option&symbol=BTC-29JUL22-25000-C',
        at: 1_658_384_314_791,
        sends: {
          'X-BAPI-API-KEY': 'bybit-key',
          'X-BAPI-RECV-WINDOW': '5000',
          'X-BAPI-TIMESTAMP': '1658384314791',
          'X-BAPI-SIGN': '28d7658baeee5211f1f71160a60b37605f48a37dc5dd2a1588603174e57fe0e9',
        },
      },
    ],
  },
  // Source of the scheme: www.okx.com/docs-v5, "REST Authentication".
  OKX: {
    section: {
      template: '{timestamp}{method}{path}{body}',
      encoding: 'base64',
      header: 'OK-ACCESS-SIGN',
      apiKey: { header: 'OK-ACCESS-KEY' },
      timestamp: { header: 'OK-ACCESS-TIMESTAMP', unit: 'iso' },
      headers: { 'OK-ACCESS-PASSPHRASE': { secret: 'SERVICE_API_PASSPHRASE' } },
    },
    secrets: {
      SERVICE_API_KEY: 'okx-key',
      SERVICE_API_SECRET: 'okx-secret',
      SERVICE_API_PASSPHRASE: 'okx-pass',
    },
    examples: [
      {
        url: 'https://www.okx.com/api/v5/account/balance?ccy=BTC',
        at: '2020-12-08T09:08:57.715Z',
        sends: {
          'OK-ACCESS-KEY': 'okx-key',
          'OK-ACCESS-PASSPHRASE': 'okx-pass',
          'OK-ACCESS-TIMESTAMP': '2020-12-08T09:08:57.715Z',
          'OK-ACCESS-SIGN': 'bcaop0CD6XyPPEF8Hrl2ytRKjQL3KE6d4aQOfeEr+kw=',
        },
      },
    ],
  },
  // Source of the scheme: docs.bitfinex.com/docs/rest-auth.
  Bitfinex: {
    section: {
      template: '/api{path}{nonce}{body}',
      algorithm: 'sha384',
      header: 'bfx-signature',
      apiKey: { header: 'bfx-apikey' },
      nonce: { header: 'bfx-nonce', form: 'increasing' },
    },
    secrets: { SERVICE_API_KEY: 'bfx-key', SERVICE_API_SECRET: 'bitfinex-secret' },
    examples: [
      {
        url: 'https://api.bitfinex.com/v2/auth/r/wallets',
        body: '{"type":"exchange"}',
        at: 0,
        nonce: '1700000000000001',
        sends: {
          'bfx-apikey': 'bfx-key',
          'bfx-nonce': '1700000000000001',
          'bfx-signature':
            '0b4933a7fa5f329f7b719af2c039258cea0e1619d49a0b1d25f34bf7ae5d423de79a6c36fcc249b7fd1f5a392d86f73e',
        },
      },
    ],
  },
}

const examples = Object.entries(schemes).flatMap(([name, { examples: all, ...scheme }]) =>
  all.map((example) => ({ name, ...scheme, ...example })),
)

test.each(examples)('$name: $url is signed as the exchange expects', async (example) => {
  const { section, secrets, url, body = '', at, nonce = '', sends } = example
  const auth = serviceAuth({ scheme: 'hmac', ...section }, secrets)
  const nonces = { uuid: () => nonce, increasing: () => nonce }
  const authorize = createAuthorize(auth, () => new Date(at), nonces)
  const method = body === '' ? 'GET' : 'POST'
  const { headers } = await authorize({ method, url: new URL(url), body })
  expect(headers).toEqual(sends)
})
