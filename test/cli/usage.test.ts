import { PassThrough } from 'node:stream'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { run } from '../../src/cli/run.ts'
import { runCommand } from '../support/command.ts'
import { temporaryFolder } from '../support/folder.ts'
import { emptyDatabase, type TestDatabase, testDatabase } from '../support/postgres.ts'

let database: TestDatabase

beforeAll(async () => {
  database = await testDatabase()
})
afterAll(() => database.drop())

test.each([
  ['deposits list --limit none', 'depositd: --limit is "none"; give a whole number from 1 to 100000'],
  ['mismatches list --fail-on bad', 'depositd: --fail-on is "bad"; use severe, warning, info'],
  ['deposits list --lmit 5', "error: unknown option '--lmit'"],
  ['deposits show', "error: missing required argument 'id'"],
  ['deposit list', "error: unknown command 'deposit'\n(Did you mean deposits?)"],
  ['deposits lst', "error: unknown command 'lst'\n(Did you mean list?)"],
  ['service balnce', "error: too many arguments for 'start'"],
  ['service keys lst', "error: unknown command 'lst'\n(Did you mean list?)"],
  ['channels create shop --network base', "error: required option '--asset <symbol>' not specified"],
  ['start --roles cook', 'depositd: --roles is "cook"; use http, worker, scheduler'],
])('%s is wrong use: status 2, and a line that names the mend', async (line, message) => {
  const { status, out, err } = await runCommand(line, { DATABASE_URL: database.url })
  expect({ status, out }).toEqual({ status: 2, out: '' })
  expect(err).toContain(message)
  expect(err.trim().split('\n').length).toBeLessThanOrEqual(2)
})

test('a deposit that does not exist is not found: status 3', async () => {
  expect(await runCommand('deposits show 99', { DATABASE_URL: database.url })).toEqual({
    status: 3,
    out: '',
    err: expect.stringMatching(/^depositd: deposit 99 not found; use a number from .*\n$/),
  })
})

test('without any database address, the line says how to get one', async () => {
  const folder = process.cwd()
  process.chdir(await temporaryFolder())
  onTestFinished(() => process.chdir(folder))
  expect(await runCommand('deposits list', {})).toEqual({
    status: 2,
    out: '',
    err: 'depositd: DATABASE_URL is not set, and "bin/depositd start" has not run in this folder\n',
  })
})

test('settings that a command needs beside the database are all named', async () => {
  const line = 'wallets create savings'
  const { status, err } = await runCommand(line, { DATABASE_URL: database.url, SERVICE_URL: 'nowhere' })
  expect(status).toBe(2)
  for (const name of ['SERVICE_URL', 'SERVICE_API_KEY', 'WEBHOOK_SECRETS', 'RPC_BASE'])
    expect(err).toContain(name)
  expect(err).not.toContain(' at ')
})

test('a stack trace is shown only where it is asked for', async () => {
  const unreachable = { DATABASE_URL: 'postgres://127.0.0.1:1/x' }
  expect((await runCommand('deposits list', unreachable)).err).not.toContain('    at ')
  expect((await runCommand('--debug deposits list', unreachable)).err).toContain('    at ')
})

test('a database address that is no address of one is named, and its password is not', async () => {
  const { status, err } = await runCommand('deposits list', { DATABASE_URL: 'mysql://me:hunter2@db/x' })
  expect(status).toBe(2)
  expect(err).toBe(
    'depositd: DATABASE_URL must be an address that begins with postgres:// or postgresql://\n',
  )
})

test('a database that does not answer ends with status 4 and one line', async () => {
  const { status, err } = await runCommand('deposits list', {
    DATABASE_URL: 'postgres://me:hunter2@127.0.0.1:1/x',
  })
  expect(status).toBe(4)
  expect(err).toMatch(/^depositd: reaching the database: .*ECONNREFUSED.*DATABASE_URL.*\n$/)
  expect(err).not.toContain('hunter2')
})

test('migrate applies what is missing, then nothing', async () => {
  const empty = await emptyDatabase()
  onTestFinished(empty.drop)
  const environment = { DATABASE_URL: empty.url }
  expect(await runCommand('migrate', environment)).toMatchObject({
    status: 0,
    out: expect.stringContaining('applied 0001'),
  })
  expect(await runCommand('migrate', environment)).toEqual({
    status: 0,
    out: 'the schema is already up to date\n',
    err: '',
  })
})

test('without a command, the program prints its help', async () => {
  const help = await runCommand('--help', {})
  expect(help.out).toContain('Usage: depositd ')
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  expect(await run({ arguments: [], environment: {}, stdout, stderr })).toBe(0)
  expect(stdout.read()?.toString()).toBe(help.out)
})

test('"help" before a command prints the help of that command', async () => {
  const help = await runCommand('ledger balances --help', {})
  expect(help.out).toContain('Usage: depositd ledger balances ')
  expect(await runCommand('ledger help balances', {})).toEqual(help)
})

test('an unknown command is one document where JSON is asked for, with the fix', async () => {
  const { status, out, err } = await runCommand('mismatch list --json', {})
  expect({ status, err }).toEqual({ status: 2, err: '' })
  expect(JSON.parse(out)).toEqual({
    error: {
      code: 'usage_bad',
      message: "unknown command 'mismatch' (Did you mean mismatches?)",
      fix: 'see the options of the command with --help',
    },
  })
})

test.each([
  [
    'deposits list --lmit 5',
    'postgres://127.0.0.1:1/x',
    { code: 'usage_bad', fix: 'see the options of the command with --help' },
  ],
  [
    'deposits list',
    'postgres://127.0.0.1:1/x',
    {
      code: 'remote_failed',
      message: expect.stringMatching(/^reaching the database: [^;]*ECONNREFUSED[^;]*$/),
      fix: 'run "bin/depositd start" in this folder, or correct DATABASE_URL',
    },
  ],
])('%s with --json says the fix beside the error', async (line, DATABASE_URL, error) => {
  const { out, err } = await runCommand(`${line} --json`, { DATABASE_URL })
  expect(err).toBe('')
  expect(JSON.parse(out)).toMatchObject({ error })
})

test('a login that the server refuses is told with the fix beside it', async () => {
  const url = new URL(database.url)
  url.pathname = '/nowhere'
  const { status, out } = await runCommand('deposits list --json', { DATABASE_URL: url.href })
  expect(status).toBe(2)
  expect(JSON.parse(out)).toMatchObject({
    error: { code: 'settings_bad', fix: 'correct its user, password and database' },
  })
})
