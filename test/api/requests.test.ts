import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { revokeApiToken } from '../../src/store/api-tokens.ts'
import { inTransaction } from '../../src/store/database.ts'
import type { Books } from '../support/books.ts'
import { at, claim, payment, txId, webhook } from '../support/evidence.ts'
import { openReadBooks, type ReadClient, serveReadApi } from '../support/read-api.ts'
import { until } from '../support/until.ts'

const stack = new AsyncDisposableStack()
let books: Books
let api: ReadClient

beforeAll(async () => {
  books = stack.use(await openReadBooks())
  api = await serveReadApi(books, stack)
})
afterAll(() => stack.disposeAsync())

describe('a token', () => {
  test('is asked for by every call but the description', async () => {
    const without = await api.get('/v1/deposits', null)
    expect([without.body.code, without.headers.get('www-authenticate')]).toEqual([
      'token_missing',
      'Bearer realm="depositd"',
    ])
    expect((await api.get('/v1/nothing', null)).status).toBe(401)
    expect((await api.get('/v1/health', null)).status).toBe(401)
    expect((await api.get('/v1/openapi.json', null)).status).toBe(200)
    const forged = `depositd_${'A'.repeat(43)}`
    expect((await api.get('/v1/deposits', forged)).body.code).toBe('token_unknown')
    expect((await api.get('/v1/deposits', 'short')).body.code).toBe('token_unknown')
  })

  test('is stored as a hash alone, and its use noted to the hour', async () => {
    const token = await api.token({ name: 'noted' })
    await api.get('/v1/services', token)
    const { rows } = await sql<{ text: string; sha256: Buffer; last_used_at: Date }>`
      select t::text as text, sha256, last_used_at from api_token t where name = 'noted'`.execute(books.owner)
    const [row] = rows
    expect(row?.text).not.toContain(token.slice(9))
    expect(row?.sha256).toEqual(createHash('sha256').update(token).digest())
    expect(row?.last_used_at.toISOString()).toMatch(/:00:00.000Z$/)
  })

  test('that is revoked is soon refused, and stays revoked', async () => {
    const token = await api.token({ name: 'ended' })
    expect((await api.get('/v1/deposits', token)).status).toBe(200)
    await inTransaction(books.db, (tx) => revokeApiToken(tx, { name: 'ended', by: 'erin' }))
    await until('the token is refused', async () => {
      const { code } = (await api.get('/v1/deposits', token)).body
      return code === 'token_unknown' || null
    })
    const restored = sql`update api_token set revoked_at = null where name = 'ended'`.execute(books.db)
    await expect(restored).rejects.toThrow('append-only')
    await api.token({ name: 'ended' })
  })

  test('may call only what its scopes allow', async () => {
    const reads = await api.token({ scopes: ['read_deposits'] })
    const accounts = await api.token({ scopes: ['read_books'] })
    const writes = await api.token({ scopes: ['write_cases'] })
    const codeOf = async (path: string, token: string) => (await api.get(path, token)).body.code ?? 'fine'
    for (const path of [
      '/v1/deposits',
      '/v1/deposits/1',
      '/v1/deposits/1/evidence',
      '/v1/mismatches',
      '/v1/mismatches/1',
      '/v1/events',
    ])
      expect([await codeOf(path, accounts), await codeOf(path, writes)]).toEqual(
        Array(2).fill('scope_insufficient'),
      )
    for (const path of ['/v1/owners/shop/statement', '/v1/balances', '/v1/trial-balance'])
      expect([await codeOf(path, reads), await codeOf(path, writes)]).toEqual(
        Array(2).fill('scope_insufficient'),
      )
    for (const path of ['/v1/services', '/v1/networks', '/v1/health'])
      expect(await codeOf(path, writes)).toBe('fine')
  })

  test('is limited in its rate, and another one is not', async () => {
    const limited = await serveReadApi(books, stack, { limit: { perSecond: 1, burst: 2 } })
    const [one, other] = [await limited.token({ name: 'one' }), await limited.token({ name: 'other' })]
    const statuses = [await limited.get('/v1/health', one), await limited.get('/v1/health', one)]
    const refused = await limited.get('/v1/health', one)
    expect([...statuses.map(({ status }) => status), refused.status]).toEqual([200, 200, 429])
    expect([refused.body.code, refused.headers.get('retry-after')]).toEqual(['rate_limited', '1'])
    expect((await limited.get('/v1/health', other)).status).toBe(200)
  })

  test('reads with a login that writes nothing and sees no tokens', async () => {
    for (const statement of [
      'select * from api_token',
      'select * from session',
      'insert into asset default values',
    ])
      await expect(
        inTransaction(books.owner, async (tx) => {
          await sql`set local role depositd_viewer`.execute(tx)
          await sql.raw(statement).execute(tx)
        }),
      ).rejects.toThrow('permission denied')
  })
})

describe('a request', () => {
  test('with an unknown parameter is refused, and the known ones are named', async () => {
    const { status, body } = await api.get('/v1/deposits/1?state=settled&wiat=3s')
    expect([status, body.errors]).toEqual([
      400,
      [{ parameter: 'wiat', detail: 'is not a parameter of this operation; it has wait, state, credit' }],
    ])
    expect((await api.get('/v1/services?limit=3')).body.detail).toContain('it has none')
    expect((await api.get('/v1/deposits?limit=0')).body.detail).toContain('from 1 to 500')
    expect((await api.get('/v1/deposits?limit=1&limit=2')).body.detail).toContain('occurs twice')
    expect((await api.get('/v1/deposits?cursor=abc')).body.code).toBe('cursor_invalid')
  })

  test('of an unknown path or with another method is refused', async () => {
    expect((await api.get('/v1/nothing')).body.code).toBe('not_found')
    const posted = await api.get('/v1/deposits', undefined, { method: 'POST' })
    expect([posted.body.code, posted.headers.get('allow')]).toEqual(['method_not_allowed', 'GET'])
    const malformed = await api.get('/v1/owners/%FF/statement')
    expect(malformed.body.code).toBe('http_malformed')
  })

  test('is answered 304 while nothing has changed, although the time of the read has', async () => {
    const first = await api.get('/v1/deposits/1')
    const etag = first.headers.get('etag') ?? ''
    const known = { headers: { 'if-none-match': `"other", ${etag}` } }
    const again = await api.get('/v1/deposits/1', undefined, known)
    expect([etag, again.status, again.text]).toEqual([expect.stringMatching(/^W\/"/), 304, ''])
    expect((await api.get('/v1/deposits/2', undefined, known)).status).toBe(200)
    const described = await api.get('/v1/openapi.json')
    const headers = { 'if-none-match': described.headers.get('etag') ?? '' }
    expect((await api.get('/v1/openapi.json', null, { headers })).status).toBe(304)
  })

  test('is answered 503 if the database does not answer in time', { timeout: 30_000 }, async () => {
    const locked = Promise.withResolvers<void>()
    const done = Promise.withResolvers<void>()
    const holding = inTransaction(books.owner, async (tx) => {
      await sql`lock table deposit in access exclusive mode`.execute(tx)
      locked.resolve()
      await done.promise
    })
    await locked.promise
    const { status, body, headers } = await api.get('/v1/deposits')
    done.resolve()
    await holding
    expect([status, body.code, headers.get('retry-after')]).toEqual([503, 'unavailable', '1'])
  })
})

describe('a request that waits', () => {
  const paid = { tx: txId('waits'), blockAt: at(700), receivedAt: at(702) }
  const pay = async () => {
    await books.receive(payment(paid))
    await books.settle()
    const { body } = await api.get(`/v1/deposits?tx=${paid.tx}`)
    return String(body.data[0].id)
  }
  const report = async () => {
    const stated = { serviceId: 'dep_waits' as never, status: 'confirmed', deposit: { tx: paid.tx } } as const
    await books.receive(
      webhook({ ...stated, receivedAt: at(703) }),
      claim({ ...stated, receivedAt: at(704) }),
    )
    await books.settle()
  }

  test('is answered when the deposit changes, or at the end of its time', { timeout: 30_000 }, async () => {
    const id = await pay()
    const began = Date.now()
    const unchanged = await api.get(`/v1/deposits/${id}?wait=1s`)
    expect([unchanged.status, unchanged.body.service_id, Date.now() - began >= 1000]).toEqual([
      200,
      null,
      true,
    ])
    const never = { amount: null, since: null, reason: null, finality: null, proof: null }
    expect(unchanged.body.credit).toEqual({ safe: false, ...never })
    const etag = unchanged.headers.get('etag') ?? ''
    const same = await api.get(`/v1/deposits/${id}?wait=1s`, undefined, {
      headers: { 'if-none-match': etag },
    })
    expect(same.status).toBe(304)
    const waiting = api.get(`/v1/deposits/${id}?wait=30s`, undefined, { headers: { 'if-none-match': etag } })
    const reached = api.get(`/v1/deposits/${id}?wait=1s&state=settled`)
    const credited = api.get(`/v1/deposits/${id}?wait=30s&credit=safe`)
    await report()
    const { credit } = (await credited).body
    expect(credit).toMatchObject({ safe: true, proof: expect.stringMatching(/^\d+$/) })
    const changed = await waiting
    const listed = await api.get('/v1/deposits?service_id=dep_waits')
    expect(listed.body.data).toMatchObject([{ credit }])
    expect([changed.status, changed.body.service_id]).toEqual([200, 'dep_waits'])
    expect((await reached).body.state).toBe('confirmed')
    const news = await api.get(`/v1/deposits/${id}?wait=30s`, undefined, {
      headers: { 'if-none-match': etag },
    })
    expect(news.body.service_id).toBe('dep_waits')
    const state = await api.get(`/v1/deposits/${id}?wait=30s&state=confirmed`)
    expect(state.body.state).toBe('confirmed')
    expect(Date.now() - began).toBeLessThan(20_000)
  })

  test('is answered at once when the server stops', { timeout: 30_000 }, async () => {
    const stopped = await serveReadApi(books, stack)
    const began = Date.now()
    const waiting = stopped.get('/v1/deposits/1?wait=60s')
    await stopped.get('/v1/health')
    await stopped.stop()
    expect([(await waiting).status, Date.now() - began < 10_000]).toEqual([200, true])
  })
})
