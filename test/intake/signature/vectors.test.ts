import { expect, test } from 'vitest'
import { createScheme } from '../../../src/intake/signature/create-scheme.ts'
import { schemeSettings, secretsOf } from '../../support/sign-webhook.ts'

type Vector = {
  settings: Record<string, unknown>
  secret?: string
  publicKeys?: object
  headers: Record<string, string>
  body: string | Buffer
  receivedAt?: Date
  path?: string
}

function verdictOf({ settings, secret, publicKeys, headers, body, receivedAt, path }: Vector) {
  const keys = {
    secrets: secret === undefined ? [] : secretsOf(secret),
    publicKeys: publicKeys === undefined ? null : JSON.stringify({ keys: [publicKeys] }),
  }
  const verify = createScheme(schemeSettings(settings), keys)
  const line = { method: 'POST', path: path ?? '/' }
  return verify({ headers, body: Buffer.from(body), receivedAt: receivedAt ?? new Date(), ...line }).kind
}

const base64url = (hex: string) => Buffer.from(hex, 'hex').toString('base64url')
const svix = {
  'svix-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  'svix-timestamp': '1614265330',
  'svix-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
}
const hubspot = (time: string, signature: string) => ({
  'x-hubspot-request-timestamp': time,
  'x-hubspot-signature-v3': signature,
})
const hubspotSecret = 'yyyyyyyy-yyyy-yyyy-yyyy-yyyyyyyyyyyy'
const jefe = { secret: 'Jefe', body: 'what do ya want for nothing?' }
const jwsInput =
  'eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ'

const vectors: Record<string, Vector> = {
  'Svix, as its documentation shows it': {
    settings: { scheme: 'svix' },
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    headers: svix,
    body: '{"test": 2432232314}',
    receivedAt: new Date(1614265330_000),
  },
  'GitHub, as its documentation shows it': {
    settings: { scheme: 'github' },
    secret: "It's a Secret to Everybody",
    headers: {
      'x-hub-signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
    },
    body: 'Hello, World!',
  },
  'Square, as the tests of its SDKs have it': {
    settings: { scheme: 'square', publicUrl: 'https://webhook.site' },
    secret: 'Ibxx_5AKakO-3qeNVR61Dw',
    headers: { 'x-square-hmacsha256-signature': 'GF4YkrJgGBDZ9NIYbNXBnMzqb2HoL4RW/S6vkZ9/2N4=' },
    body: '{"merchant_id":"MLEFBHHSJGVHD","type":"webhooks.test_notification","event_id":"ac3ac95b-f97d-458c-a6e6-18981597e05f","created_at":"2022-07-13T20:30:59.037339943Z","data":{"type":"webhooks","id":"bc368e64-01aa-407e-b46e-3231809b1129"}}',
    path: '/679a4f3a-dcfa-49ee-bac5-9d0edad886b9',
  },
  'HubSpot, as the tests of its Ruby SDK have it': {
    settings: { scheme: 'hubspot', publicUrl: 'https://www.example.com/' },
    secret: hubspotSecret,
    headers: hubspot('1700000300000', 'RnbPH7+UMKVkbV32P8bz450N4M56aPmcru1+D3kSDtw='),
    body: "{'example_field':'example_value'}",
    receivedAt: new Date(1700000300_000),
    path: '/webhook_uri',
  },
  // Of the query as its documentation decodes it: openssl dgst -sha256 -hmac, in base64.
  'HubSpot, with every character that it decodes and some that it does not': {
    settings: { scheme: 'hubspot', publicUrl: 'https://deposits.example' },
    secret: hubspotSecret,
    headers: hubspot('1700000300000', '+eh07ioYgVnvq+HyGOc9j1DxGs3uHWv3NLNcHkGJzYM='),
    body: '{"event":"deposit.settled"}',
    receivedAt: new Date(1700000300_000),
    path: '/webhooks/transfers?at=10%3A30%2fb%3Fc%40d%21e%24f%27g%28h%29i%2Aj%2Ck%3bl%20m%26n%3Do',
  },
  'Time, method, path and body in HMAC-SHA512, by openssl': {
    settings: {
      scheme: 'hmac',
      header: 'x-mac',
      algorithm: 'sha512',
      template: '{timestamp}{method}{path}{body}',
      timestamp: { header: 'x-time' },
    },
    secret: 'plain words',
    headers: {
      'x-time': '1795168800',
      'x-mac':
        '7eca6841761fdd852a05ea28f3d4921050dc882b4cfadbcb90d348b92b924d4630679c40d53eed4c8a823ec50272d7d62a7cdd6aeb6a66b2ca0628a02dac66af',
    },
    body: '{"event":"deposit.settled"}',
    receivedAt: new Date(1795168800_000),
    path: '/webhooks/transfers?a=1',
  },
  'Body and URL in HMAC-SHA1, by openssl': {
    settings: {
      scheme: 'hmac',
      header: 'x-mac',
      algorithm: 'sha1',
      encoding: 'base64',
      template: '{body}{url}',
      publicUrl: 'https://deposits.example',
    },
    secret: 'plain words',
    headers: { 'x-mac': 'l2tiFoG3TZkx3j0ryHAw02+ESBA=' },
    body: '{"event":"deposit.settled"}',
    path: '/webhooks/transfers',
  },
  'HMAC-SHA1, RFC 2202 section 3, case 2': {
    settings: { scheme: 'hmac', header: 'x-mac', algorithm: 'sha1' },
    ...jefe,
    headers: { 'x-mac': 'effcdf6ae5eb2fa2d27416d5f184df9c259a7c79' },
  },
  'HMAC-SHA256, RFC 4231 section 4.2': {
    settings: { scheme: 'hmac', header: 'x-mac', key: 'hex' },
    secret: '0b'.repeat(20),
    headers: { 'x-mac': 'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7' },
    body: 'Hi There',
  },
  'HMAC-SHA256, RFC 4231 section 4.3': {
    settings: { scheme: 'hmac', header: 'x-mac' },
    ...jefe,
    headers: { 'x-mac': '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843' },
  },
  'HMAC-SHA384, RFC 4231 section 4.3': {
    settings: { scheme: 'hmac', header: 'x-mac', algorithm: 'sha384' },
    ...jefe,
    headers: {
      'x-mac':
        'af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47e42ec3736322445e8e2240ca5e69e2c78b3239ecfab21649',
    },
  },
  'HMAC-SHA512, RFC 4231 section 4.3': {
    settings: { scheme: 'hmac', header: 'x-mac', algorithm: 'sha512' },
    ...jefe,
    headers: {
      'x-mac':
        '164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737',
    },
  },
  'ed25519, RFC 8032 section 7.1, test 3': {
    settings: { scheme: 'public-key', header: 'x-sig', algorithm: 'ed25519', encoding: 'hex' },
    publicKeys: {
      kty: 'OKP',
      crv: 'Ed25519',
      x: base64url('fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025'),
    },
    headers: {
      'x-sig':
        '6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a',
    },
    body: Buffer.from('af82', 'hex'),
  },
  'ECDSA on P-256 with SHA-256, RFC 6979 section A.2.5': {
    settings: {
      scheme: 'public-key',
      header: 'x-sig',
      algorithm: 'ecdsa-sha256',
      encoding: 'hex',
      signatureForm: 'p1363',
    },
    publicKeys: {
      kty: 'EC',
      crv: 'P-256',
      x: base64url('60FED4BA255A9D31C961EB74C6356D68C049B8923B61FA6CE669622E60F29FB6'),
      y: base64url('7903FE1008B8BC99A41AE9E95628BC64F2F1B20C2D7E9F5177A3C294D4462299'),
    },
    headers: {
      'x-sig':
        'EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716F7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8',
    },
    body: 'sample',
  },
  'ECDSA on P-384 with SHA-384, RFC 6979 section A.2.6': {
    settings: {
      scheme: 'public-key',
      header: 'x-sig',
      algorithm: 'ecdsa-sha384',
      encoding: 'hex',
      signatureForm: 'p1363',
    },
    publicKeys: {
      kty: 'EC',
      crv: 'P-384',
      x: base64url(
        'EC3A4E415B4E19A4568618029F427FA5DA9A8BC4AE92E02E06AAE5286B300C64DEF8F0EA9055866064A254515480BC13',
      ),
      y: base64url(
        '8015D9B72D7D57244EA8EF9AC0C621896708A59367F9DFB9F54CA84B3F1C9DB1288B231C3AE0D4FE7344FD2533264720',
      ),
    },
    headers: {
      'x-sig':
        '94EDBB92A5ECB8AAD4736E56C691916B3F88140666CE9FA73D64C4EA95AD133C81A648152E44ACF96E36DD1E80FABE46' +
        '99EF4AEB15F178CEA1FE40DB2603138F130E740A19624526203B6351D0A3A94FA329C145786E679E7B82C71A38628AC8',
    },
    body: 'sample',
  },
  'RSA with SHA-256, RFC 7515 appendix A.2': {
    settings: { scheme: 'public-key', header: 'x-sig', algorithm: 'rsa-sha256', encoding: 'base64url' },
    publicKeys: {
      kty: 'RSA',
      e: 'AQAB',
      n: 'ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ',
    },
    headers: {
      'x-sig':
        'cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw',
    },
    body: jwsInput,
  },
}

test.each(Object.entries(vectors))('%s', (_name, vector) => {
  expect(verdictOf(vector)).toBe('verified')
  expect(verdictOf({ ...vector, body: Buffer.concat([Buffer.from(vector.body), Buffer.from('.')]) })).toBe(
    'refused',
  )
})
