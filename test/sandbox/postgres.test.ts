import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startPostgres } from '../../src/sandbox/postgres.ts'

const log = pino({ level: 'silent' })
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'depositd-postgres-'))
})

afterAll(() => rm(folder, { recursive: true, force: true }))

test('a database and its rows are there again after the server was stopped and started', async () => {
  const first = await startPostgres({ folder, log })
  await first.createDatabase('books')
  await first.createDatabase('books')
  await query(first.url('books'), 'create table entry as select 7 as amount')
  await first.stop()
  const second = await startPostgres({ folder, log })
  expect(await query(second.url('books'), 'select amount from entry')).toEqual([{ amount: 7 }])
  await second.stop()
})

test('the password is readable for its owner only and differs from any default', async () => {
  const { mode } = await stat(join(folder, 'password'))
  expect(mode & 0o777).toBe(0o600)
})

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<Record<string, unknown>>(text)
    return rows
  } finally {
    await client.end()
  }
}
