import { once } from 'node:events'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startPostgres } from '../../src/sandbox/postgres.ts'
import { identifyProcess } from '../../src/sandbox/processes.ts'
import { temporaryFolder } from '../support/folder.ts'
import { runProgram } from '../support/programs.ts'

const log = pino({ level: 'silent' })

/** One set of data for the tests that do not end it by force: making it takes most of their time. */
let shared: string

beforeAll(async () => {
  shared = await mkdtemp(join(tmpdir(), 'depositd-folder-'))
})

afterAll(() => rm(shared, { recursive: true, force: true }))

test('a database and its rows are there again on the wanted port after a stop and a start', async () => {
  const first = await startPostgres({ folder: shared, durability: 'none', log })
  await first.createDatabase('books')
  await first.createDatabase('books')
  await query(first.url('books'), 'create table entry as select 7 as amount')
  await first.stop()
  const port = portOf(first.url('books'))
  const second = await startPostgres({ folder: shared, port, durability: 'none', log })
  expect(portOf(second.url('books'))).toBe(port)
  expect(await query(second.url('books'), 'select amount from entry')).toEqual([{ amount: 7 }])
  await second.stop()
})

test('a port that is taken is passed over', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const server = await startPostgres({ folder: shared, port, durability: 'none', log })
  expect(portOf(server.url('postgres'))).not.toBe(port)
  await server.stop()
  other.close()
})

test('the password is asked for, and is readable for its owner only', async () => {
  const server = await startPostgres({ folder: shared, durability: 'none', log })
  const { mode } = await stat(join(shared, 'password'))
  expect(mode & 0o777).toBe(0o600)
  const url = new URL(server.url('postgres'))
  url.password = 'password'
  await expect(query(url.href, 'select 1')).rejects.toThrow('password authentication failed')
  await server.stop()
})

test('rows survive a kill of program and server, and the server left over by a killed program is ended', async () => {
  const folder = await temporaryFolder()
  const first = await runProgram('test/sandbox/fixtures/start-postgres.ts', folder)
  await query(first.line, 'create table entry as select 7 as amount')
  await first.killHard()
  expect(await query(first.line, 'select amount from entry')).toEqual([{ amount: 7 }])

  const second = await runProgram('test/sandbox/fixtures/start-postgres.ts', folder)
  await expect(query(first.line, 'select 1')).rejects.toThrow('ECONNREFUSED')
  await query(second.line, 'insert into entry values (8)')
  await second.killHard()
  const server = await recordedPid(folder)
  process.kill(server, 'SIGKILL')

  const third = await startPostgres({ folder, log })
  expect(identifyProcess(server)).toBeNull()
  expect(await query(third.url('postgres'), 'select amount from entry order by amount')).toEqual([
    { amount: 7 },
    { amount: 8 },
  ])
  await third.stop()
})

test('a server that cannot start says why in its own words', async () => {
  await writeFile(join(shared, 'data', 'PG_VERSION'), '9\n')
  await expect(startPostgres({ folder: shared, log })).rejects.toThrow(/database files are incompatible/)
})

function portOf(url: string): number {
  return Number(new URL(url).port)
}

async function recordedPid(folder: string): Promise<number> {
  const record = JSON.parse(await readFile(join(folder, 'postgres.process.json'), 'utf8')) as { pid: number }
  return record.pid
}

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
