import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inTransaction } from '../../src/store/database.ts'
import { listAudit } from '../../src/store/sessions.ts'
import type { Books } from '../support/books.ts'
import { addPeople } from '../support/people.ts'
import { openReadBooks, type ReadClient, serveReadApi } from '../support/read-api.ts'

const stack = new AsyncDisposableStack()
let books: Books
let api: ReadClient
let bot: string

beforeAll(async () => {
  books = stack.use(await openReadBooks())
  await addPeople(books.owner)
  // As if nothing could be lost by them.
  await sql`
    update mismatch set severity = 'info', loss_amount = null, loss_asset = null, loss_whole = null
    where deposit_id in (8, 10)`.execute(books.owner)
  api = await serveReadApi(books, stack)
  bot = await api.token({ name: 'bot', scopes: ['write_cases'] })
})
afterAll(() => stack.disposeAsync())

const mismatchOf = async (deposit: string, status = 'open') =>
  (await api.get(`/v1/mismatches?deposit=${deposit}&status=${status}`)).body.data[0]

const pathOf = async (deposit: string) => `/v1/mismatches/${(await mismatchOf(deposit, 'all')).id}`

const keyed = (key: string, token = bot) => ({ headers: { 'idempotency-key': key }, token })

const ageKeys = (hours: number) =>
  sql`update idempotency_key set at = at - ${hours} * interval '1 hour'`.execute(books.owner)

const historyOf = async (deposit: string) => (await api.get(await pathOf(deposit))).body.history

describe('a token with the scope write_cases', () => {
  test('comments, assigns and snoozes under a name that no person has', async () => {
    const path = await pathOf('9')
    const by = { token: bot }
    const comment = await api.post(`${path}/comments`, { text: ' Ask the service, @Erin. ' }, by)
    expect(comment).toMatchObject({
      status: 201,
      body: { actor: 'token:bot', action: 'commented', text: 'Ask the service, @Erin.' },
    })
    expect((await api.post(`${path}/assign`, { to: 'ERIN' }, by)).status).toBe(201)
    expect(await mismatchOf('9')).toMatchObject({ assigned_to: 'erin' })
    expect((await api.post(`${path}/snooze`, { until: 'changed' }, by)).status).toBe(201)
    expect(await mismatchOf('9', 'snoozed')).toMatchObject({ status: 'snoozed' })
    for (const until of ['loss_grows', '2099-01-01T00:00:00Z', null])
      expect((await api.post(`${path}/snooze`, { until }, by)).status).toBe(201)
    expect((await api.post(`${path}/assign`, { to: null }, by)).status).toBe(201)
    expect(await mismatchOf('9')).toMatchObject({ status: 'open', assigned_to: null })
    const acts = (await historyOf('9')).filter(({ actor }: { actor: string }) => actor === 'token:bot')
    expect(acts).toHaveLength(7)
    const { rows } = await sql`select mentions from mismatch_event where id = ${comment.body.id}`.execute(
      books.owner,
    )
    expect(rows).toEqual([{ mentions: ['erin'] }])
  })

  test('resolves what is no loss, which the audit log shows', async () => {
    const path = await pathOf('10')
    const resolved = await api.post(`${path}/resolve`, { reason: 'reported since' }, { token: bot })
    expect(resolved).toMatchObject({ status: 201, body: { action: 'resolved', text: 'reported since' } })
    expect(await mismatchOf('10', 'all')).toMatchObject({ status: 'resolved' })
    const wish = { person: null, action: null, after: null, limit: 5 }
    expect(await listAudit(books.db, wish)).toContainEqual(
      expect.objectContaining({ person: 'token:bot', action: 'resolved' }),
    )
    const again = await api.post(`${path}/resolve`, { reason: 'reported since' }, { token: bot })
    expect(again.body).toMatchObject({ status: 409, code: 'case_refused' })
    expect(again.body.detail).toContain('was resolved at')
  })

  test('cannot resolve what may be a loss', async () => {
    const refused = await api.post(`${await pathOf('3')}/resolve`, { reason: 'paid by hand' })
    expect(refused.body).toMatchObject({ status: 409, code: 'signature_needed' })
    expect(refused.body.detail).toMatch(/bin\/depositd mismatches resolve \d+ .* in the console/)
    expect(await mismatchOf('3')).toMatchObject({ status: 'open' })
  })

  test('is never a second person', async () => {
    const approved = sql`
      insert into mismatch_event (mismatch_id, actor, action, text, approved_by)
      values (1, 'erin', 'commented', 'text', 'Token:bot')`.execute(books.owner)
    await expect(approved).rejects.toThrow('mismatch_event_second_person')
    const signed = sql`
      insert into decision_event (decision_id, action, person, reason) values (1, 'rejected', 'token:bot', 'no')`
    await expect(signed.execute(books.owner)).rejects.toThrow('decision_event_person_check')
  })

  test('works with a login that works on cases alone', async () => {
    for (const statement of [
      'select * from api_token',
      'update mismatch set kind = kind',
      'update idempotency_key set key = key',
      'insert into ledger_journal default values',
    ])
      await expect(
        inTransaction(books.owner, async (tx) => {
          await sql`set local role depositd_operator`.execute(tx)
          await sql.raw(statement).execute(tx)
        }),
      ).rejects.toThrow('permission denied')
  })

  test('that is limited acts only on what it sees', async () => {
    const limited = [{ owners: ['savings'] }, { services: ['acme'] }]
    for (const changes of limited) {
      const token = await api.token({ ...changes, scopes: ['write_cases'] })
      const statuses = []
      for (const deposit of ['3', '9', '10'])
        statuses.push(
          (await api.post(`${await pathOf(deposit)}/comments`, { text: 'seen' }, { token })).status,
        )
      expect(statuses).toEqual('owners' in changes ? [404, 201, 404] : [404, 404, 201])
    }
    expect(JSON.stringify(await historyOf('3'))).not.toContain('seen')
  })
})

test('a call that writes is refused without its scope, its fields, or a person of the register', async () => {
  const path = await pathOf('8')
  const reads = await api.token({ scopes: ['read_deposits', 'read_books'] })
  const codes = []
  for (const [call, body, token] of [
    ['comments', { text: 'text' }, reads],
    ['comments', { text: '  ' }, bot],
    ['comments', { text: 'a'.repeat(2001) }, bot],
    ['comments', undefined, bot],
    ['resolve', { text: 'text' }, bot],
    ['assign', { to: 'mallory' }, bot],
    ['assign', { to: 'token:bot' }, bot],
    ['snooze', { until: '2020-01-01T00:00:00Z' }, bot],
    ['snooze', { until: 'tomorrow' }, bot],
  ] as const)
    codes.push((await api.post(`${path}/${call}`, body, { token })).body.code)
  expect(codes).toEqual([
    'scope_insufficient',
    'request_invalid',
    'request_invalid',
    'content_type_unsupported',
    'request_invalid',
    'request_invalid',
    'request_invalid',
    'request_invalid',
    'request_invalid',
  ])
  const past = await api.post(`${path}/snooze`, { until: '2020-01-01T00:00:00Z' })
  expect(past.body.errors).toEqual([{ pointer: '/until', detail: 'is not a future time' }])
  expect((await api.post('/v1/mismatches/999/comments', { text: 'text' })).body.code).toBe('not_found')
  expect((await api.get(`${path}/comments`)).body.code).toBe('method_not_allowed')
  expect((await historyOf('8')).map(({ actor }: { actor: string }) => actor)).toEqual(['depositd'])
})

describe('a call with an Idempotency-Key', () => {
  test('that is sent twenty times at once acts once, and is answered alike', async () => {
    const path = `${await pathOf('8')}/comments`
    const sent = await Promise.all(
      Array.from({ length: 20 }, () => api.post(path, { text: 'once' }, keyed('k1'))),
    )
    expect(new Set(sent.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    const texts = (await historyOf('8')).map(({ text }: { text: string | null }) => text)
    expect(texts.filter((text: string | null) => text === 'once')).toHaveLength(1)
    expect((await api.post(path, { text: 'once' }, keyed('k2'))).text).not.toBe(sent[0]?.text)
  })

  test('is answered as before although it would now be refused, and is of one call and one token', async () => {
    const path = await pathOf('8')
    const resolve = () => api.post(`${path}/resolve`, { reason: 'done' }, keyed('k3'))
    const [first, again] = [await resolve(), await resolve()]
    expect([again.status, again.text]).toEqual([201, first.text])
    const others = [
      await api.post(`${path}/resolve`, { reason: 'other' }, keyed('k3')),
      await api.post(`${path}/comments`, { text: 'done' }, keyed('k3')),
      await api.post(`${await pathOf('9')}/resolve`, { reason: 'done' }, keyed('k3')),
    ]
    expect(others.map(({ body }) => body.code)).toEqual(Array(3).fill('idempotency_key_reused'))
    const other = await api.token({ scopes: ['write_cases'] })
    expect((await api.post(`${path}/comments`, { text: 'done' }, keyed('k3', other))).status).toBe(201)
  })

  test('that was refused leaves no key', async () => {
    const path = `${await pathOf('9')}/assign`
    expect((await api.post(path, { to: 'mallory' }, keyed('k4'))).status).toBe(400)
    expect((await api.post(path, { to: 'erin' }, keyed('k4'))).status).toBe(201)
  })

  test('is forgotten after a day', async () => {
    const path = `${await pathOf('9')}/comments`
    const comment = () => api.post(path, { text: 'daily' }, keyed('k5'))
    const first = await comment()
    await ageKeys(23)
    expect((await comment()).text).toBe(first.text)
    await ageKeys(2)
    expect((await comment()).text).not.toBe(first.text)
  })

  test('is refused if it is no key', async () => {
    const refused = await api.post(`${await pathOf('9')}/comments`, { text: 'text' }, keyed('a b'))
    expect(refused.body.errors).toMatchObject([{ parameter: 'Idempotency-Key' }])
  })
})
