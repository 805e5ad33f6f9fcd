import { sql } from 'kysely'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPoster } from '../../../src/outbox/post-webhook.ts'
import { openVault } from '../../../src/service/webhooks/secrets.ts'
import { openCalls, root } from './calls.ts'
import { type Office, openOffice } from './office.ts'

let office: Office

beforeAll(async () => {
  office = await openOffice()
})

afterAll(() => office.close())

/** Every row of the service's schema as text; bytes are hexadecimal. */
async function wholeDatabase(): Promise<string> {
  const { db } = office.book
  const tables = await sql<{ name: string }>`
    select table_name as name from information_schema.tables where table_schema = 'service'`.execute(db)
  const dumps = await Promise.all(
    tables.rows.map(({ name }) =>
      sql<{
        text: string
      }>`select row_to_json(one)::text as text from ${sql.table(`service.${name}`)} as one`.execute(db),
    ),
  )
  return dumps.flatMap(({ rows }) => rows.map(({ text }) => text)).join('\n')
}

/** In whatever spelling it might be kept. */
function spellings(secret: string): string[] {
  const [, base64 = ''] = secret.split('_')
  const bytes = Buffer.from(base64, 'base64')
  return [base64, bytes.toString('hex'), bytes.toString('base64url'), Buffer.from(secret).toString('hex')]
}

test('no secret lies readable in the database, even where a receiver sends it back', async () => {
  const calls = openCalls(office)
  const secrets: string[] = []
  for (const scheme of ['v1', 'v1a']) {
    const { receiver, endpoint, id } = await calls.register({ scheme })
    const rotated = await calls.post(`${root}/${id}/rotate-secret`, {})
    secrets.push(String(endpoint['secret']), String(rotated.body['secret']))
    receiver.answerWith(500, {}, secrets.join(' '))
  }
  await office.happen()
  await office.deliver()
  const dump = await wholeDatabase()
  expect(dump).toContain('(secret)')
  expect(dump).toContain('whpk_')
  expect(dump).not.toMatch(/whsec_|whsk_/)
  expect(secrets).toHaveLength(4)
  for (const spelling of secrets.flatMap(spellings)) expect(dump).not.toContain(spelling)
})

test('an attempt that fails within the service is logged without secrets, and made again after the lease', async () => {
  const receiver = await office.receiver()
  const lines: string[] = []
  const log = pino({ level: 'trace' }, { write: (line) => lines.push(line) })
  await office.happen()
  const courier = office.courier({ log, vault: openVault('00'.repeat(32)) })
  await courier.turn(new AbortController().signal)
  await courier.idle()
  expect(lines.join('')).toContain('webhook attempt was not recorded')
  expect(lines.join('')).not.toMatch(/whsec_|whsk_|sealed/)
  expect(receiver.taken(), 'nothing goes out unsigned').toEqual([])
  office.advance(46)
  await office.deliver()
  expect(receiver.taken()).toHaveLength(1)
})

test('an attempt that throws is not the end of the others', async () => {
  const receiver = await office.receiver()
  const poster = openPoster({ allowPrivate: true, timeoutMs: 5000 })
  let calls = 0
  const courier = office.courier({
    poster: {
      ...poster,
      post: (...post) => {
        calls += 1
        return calls === 1 ? Promise.reject(new Error('a bug')) : poster.post(...post)
      },
    },
  })
  await office.happen(5)
  await courier.turn(new AbortController().signal)
  await courier.idle()
  poster.close()
  expect(receiver.taken().length).toBeGreaterThan(0)
})
