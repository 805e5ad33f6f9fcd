import { createHmac } from 'node:crypto'
import { line, publicUrl, type Sender } from './sender.ts'

const secret = 'plain words'
const url = publicUrl + line.path

const mac = (algorithm: string, parts: (string | Buffer)[]) =>
  parts.reduce((made, part) => made.update(part), createHmac(algorithm, secret))

/** Those that also sign method, URL or path. */
export const requestSenders: readonly Sender[] = [
  {
    name: 'Square',
    secret,
    sign: ({ body }) => ({ 'x-square-hmacsha256-signature': mac('sha256', [url, body]).digest('base64') }),
    settings: { scheme: 'square', publicUrl },
  },
  {
    name: 'HubSpot',
    secret,
    sign: ({ at, body }) => {
      const time = at.getTime().toString()
      const decoded = 'https://deposits.example/webhooks/transfers?to=a/b%20:&x=1'
      return {
        'x-hubspot-request-timestamp': time,
        'x-hubspot-signature-v3': mac('sha256', ['POST', decoded, body, time]).digest('base64'),
      }
    },
    settings: { scheme: 'hubspot', publicUrl },
  },
  {
    name: 'HMAC-SHA1 over body and URL',
    secret,
    sign: ({ body }) => ({ 'x-callback': mac('sha1', [body, url]).digest('base64') }),
    settings: {
      scheme: 'hmac',
      header: 'x-callback',
      algorithm: 'sha1',
      encoding: 'base64',
      template: '{body}{url}',
      publicUrl,
    },
  },
  {
    name: 'HMAC over time, id, method, path and body',
    secret,
    sign: ({ id, at, body }) => {
      const time = Math.floor(at.getTime() / 1000).toString()
      const head = `${time}|${id}|POST|${line.path}|`
      return {
        'x-nonce-id': id,
        'x-time': time,
        'x-sign': `v1=${mac('sha512', [head, body]).digest('hex')}`,
      }
    },
    settings: {
      scheme: 'hmac',
      header: 'x-sign',
      prefix: 'v1=',
      algorithm: 'sha512',
      template: '{timestamp}|{id}|{method}|{path}|{body}',
      id: { header: 'x-nonce-id' },
      timestamp: { header: 'x-time' },
    },
  },
]
