import { createHmac, verify } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

/** A JSON value that keeps the digits of its numbers, as text. */
export type Json = null | boolean | string | readonly Json[] | { readonly [name: string]: Json }

export type Answer = { body: Json; headers: Headers }

type SentWebhook = { headers: IncomingHttpHeaders; body: string }

type Listing = {
  /** Path and query of the first page, which holds fewer records than there are. */
  first: string
  records: (body: Json) => readonly Json[]
  /** Path and query, or the whole address, of the page after this one. Null after the last. */
  next: (answer: Answer, asked: string) => string | null
}

/** What a client of one shape reads of its documentation; it shares no code with the shape. */
export type ShapeClient = {
  deposits: Listing
  /** Paths of the transaction of the payment, and of a status that stays. */
  payment: string
  status: string
  ended: readonly string[]
  owners: readonly Listing[]
  /** The records of a webhook. */
  reported: (body: Json) => readonly Json[]
  /** The path of its OpenAPI document, if it has one. */
  specification: string | null
  /** `secret` as the shape shows it. */
  isSigned: (webhook: SentWebhook, from: { secret: string; url: string }) => boolean
}

export function at(value: Json | undefined, path: string): Json | undefined {
  return path.split('.').reduce<Json | undefined>((one, name) => {
    return typeof one === 'object' && one !== null ? (one as Record<string, Json>)[name] : undefined
  }, value)
}

/** Empty for what is no text. */
export function textAt(value: Json, path: string): string {
  const found = at(value, path)
  return typeof found === 'string' ? found : ''
}

function listAt(path: string): (body: Json) => readonly Json[] {
  return (body) => at(body, path) as readonly Json[]
}

function withToken(path: string, items: string): Listing {
  return {
    first: `${path}?page_size=2`,
    records: listAt(items),
    next: ({ body }) => {
      const token = textAt(body, 'next_page_token')
      return token === '' ? null : `${path}?page_size=2&page_token=${encodeURIComponent(token)}`
    },
  }
}

function numbered(path: string): Listing {
  return {
    first: `${path}?pageNumber=1&pageSize=2`,
    records: listAt('items'),
    next: ({ body }) => {
      const [number, pages] = [Number(at(body, 'pageNumber')), Number(at(body, 'totalPages'))]
      return number < pages ? `${path}?pageNumber=${number + 1}&pageSize=2` : null
    },
  }
}

function offsets(path: string): Listing {
  return {
    first: `${path}?limit=2`,
    records: listAt('result.rows'),
    next: ({ body }, asked) => {
      const offset = Number(new URLSearchParams(asked.split('?')[1]).get('offset') ?? 0) + 2
      return offset < Number(at(body, 'result.total')) ? `${path}?limit=2&offset=${offset}` : null
    },
  }
}

function linkedByHeader(path: string): Listing {
  return {
    first: `${path}?per_page=2`,
    records: (body) => body as readonly Json[],
    next: ({ headers }) => /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1] ?? null,
  }
}

function linkedByBody(path: string): Listing {
  return {
    first: `${path}?page[size]=2`,
    records: listAt('data'),
    next: ({ body }) => textAt(body, 'links.next') || null,
  }
}

export const clients: Readonly<Record<string, ShapeClient>> = {
  tern: {
    deposits: withToken('/v1/deposits', 'deposits'),
    payment: 'legs.pay_in.tx_hash',
    status: 'state',
    ended: ['payout_complete', 'balance_credited'],
    owners: [withToken('/v1/forwarding_routes', 'forwarding_routes'), withToken('/v1/vaults', 'vaults')],
    reported: (body) => [at(body, 'deposit') ?? null],
    specification: '/v1/openapi.json',
    isSigned({ headers, body }, { secret }) {
      const [, time, signature] = /^t=(\d+),v1=([0-9a-f]+)$/.exec(String(headers['tern-signature'])) ?? []
      return signature === createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')
    },
  },
  quay: {
    deposits: numbered('/api/deposits'),
    payment: 'inboundTxId',
    status: 'stage',
    ended: ['Delivered', 'Booked'],
    owners: [numbered('/api/collectionPoints'), numbered('/api/treasuryAccounts')],
    reported: (body) => [at(body, 'body') ?? null],
    specification: '/swagger.json',
    isSigned({ headers, body }, { secret, url }) {
      const signed = `POST${url}${body}${String(headers['x-quay-request-timestamp'])}`
      const expected = createHmac('sha256', secret).update(signed).digest('base64')
      return headers['x-quay-signature'] === expected
    },
  },
  skua: {
    deposits: linkedByHeader('/transfers/incoming'),
    payment: 'received.txid',
    status: 'phase',
    ended: ['ARRIVED', 'PARKED'],
    owners: [linkedByHeader('/routes'), linkedByHeader('/vaults')],
    reported: (body) => [at(body, 'transfer') ?? null],
    specification: null,
    isSigned({ headers, body }, { secret }) {
      const signature = Buffer.from(String(headers['x-skua-ed25519']), 'hex')
      return verify(null, Buffer.from(`${String(headers['x-skua-timestamp'])}${body}`), secret, signature)
    },
  },
  dunlin: {
    deposits: offsets('/gateway/v3/movements'),
    payment: 'flow.inbound.proof.transaction.hash',
    status: 'lifecycle.phase.code',
    ended: ['outbound.done', 'balance.credited'],
    owners: [offsets('/gateway/v3/programs'), offsets('/gateway/v3/safes')],
    reported: (body) => [at(body, 'data.object') ?? null],
    specification: '/openapi.json',
    isSigned: ({ headers }, { secret }) => headers['x-dunlin-hook-secret'] === secret,
  },
  heron: {
    deposits: linkedByBody('/v2/deposits'),
    payment: 'attributes.source.hash',
    status: 'attributes.stage',
    ended: ['completed', 'completed-internally'],
    owners: [linkedByBody('/v2/payout-routes'), linkedByBody('/v2/custody-accounts')],
    reported: (body) => listAt('events')(body).map((event) => at(event, 'resource') ?? null),
    specification: '/v2/openapi.json',
    isSigned({ headers, body }, { secret }) {
      const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
      const [id, time] = [String(headers['heron-hook-id']), String(headers['heron-hook-timestamp'])]
      const expected = createHmac('sha256', key).update(`${id}.${time}.${body}`).digest('base64')
      return headers['heron-hook-signature'] === `v1,${expected}`
    },
  },
}
