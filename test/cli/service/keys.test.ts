import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type Answer, call, readKey } from '../../service/fixtures.ts'
import { type OpenApi, openApi } from '../../service/http/open-api.ts'
import { type Ran, runCommand } from '../../support/command.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { emptyDatabase, run, testDatabase } from '../../support/postgres.ts'

type Key = { id: string; name: string; scope: string; revoked_at: string | null; key?: string }

let api: OpenApi

beforeAll(async () => {
  api = await openApi()
})
afterAll(() => api.close())

/** A command on the database of the service, while it runs. */
function keys(line: string): Promise<Ran> {
  return runCommand(`service keys ${line}`, { SERVICE_DATABASE_URL: api.databaseUrl })
}

function calling(key: string): Promise<Answer> {
  return call(`${api.url}/v1/proxies/deposits`, key)
}

test('a key that was created calls at once; the key alone is on standard output', async () => {
  const { status, out, err } = await keys('create --name shop --scope read')
  expect({ status, err }).toEqual({
    status: 0,
    err: expect.stringMatching(/^key [0-9a-f]{8} \(read\) is active; it is shown only once\n$/),
  })
  expect((await calling(out.trim())).status).toBe(200)
  const refused = await call(`${api.url}/v1/stable-wallets`, out.trim(), { id: 'savings' })
  expect(refused.body['code']).toBe('scope_insufficient')
})

test('a key with the write scope creates', async () => {
  const { key = '' } = JSON.parse((await keys('create --name shop --scope write --json')).out) as Key
  expect((await call(`${api.url}/v1/stable-wallets`, key, { id: 'savings' })).status).toBe(201)
})

test('the list shows every key and the secret of none', async () => {
  const { key = '', id } = JSON.parse((await keys('create --name listed --scope read --json')).out) as Key
  const { status, out } = await keys('list')
  expect(status).toBe(0)
  expect(out).toMatch(/^ID +SCOPE +NAME +CREATED +REVOKED\n/)
  expect(out).toContain(`${id}  read   listed`)
  const documents = await keys('list --json')
  expect(JSON.parse(documents.out).items).toContainEqual(expect.objectContaining({ id, name: 'listed' }))
  for (const text of [out, documents.out]) {
    expect(text).not.toContain(key.split('_')[2])
    expect(text).not.toContain('hash')
  }
  expect((await keys('list --limit 1')).out.trim().split('\n')).toHaveLength(3)
})

test('a key that was revoked is refused from the next request on, and stays so', async () => {
  const { key = '', id } = JSON.parse((await keys('create --name gone --scope read --json')).out) as Key
  expect((await calling(key)).status).toBe(200)
  expect(await keys(`revoke ${id}`)).toEqual({
    status: 0,
    out: `key ${id} (gone) is revoked\n`,
    err: '',
  })
  expect((await calling(key)).body['code']).toBe('key_unknown')
  const again = JSON.parse((await keys(`revoke ${id} --json`)).out) as Key
  expect(again).toMatchObject({ id, revoked_at: expect.stringMatching(/Z$/) })
  expect((await calling(readKey)).status).toBe(200)
})

test.each([
  ['create --name shop --scope admin', '--scope is "admin"; use read, write'],
  ['create --name shop', "required option '--scope <scope>' not specified"],
  [
    'create --name \u0007 --scope read',
    '--name is empty, too long or not printable; give 1 to 200 printable characters',
  ],
])('%j is wrong use: status 2, and a line that names the mend', async (line, message) => {
  const { status, out, err } = await keys(line)
  expect({ status, out }).toEqual({ status: 2, out: '' })
  expect(err).toContain(message)
})

test('a key that does not exist is not found', async () => {
  expect(await keys('revoke 00000000')).toEqual({
    status: 3,
    out: '',
    err: 'depositd: key "00000000" not found; use an id from "bin/depositd service keys list"\n',
  })
})

test('keys can be made before the service has ever run', async () => {
  const empty = await emptyDatabase()
  onTestFinished(empty.drop)
  const environment = { SERVICE_DATABASE_URL: empty.url }
  const made = await runCommand('service keys create --name first --scope write', environment)
  expect(made.status).toBe(0)
  const { out } = await runCommand('service keys list --json', environment)
  expect((JSON.parse(out) as { items: Key[] }).items.map(({ name }) => name)).toEqual(['first'])
})

test("the daemon's database is refused", async () => {
  const daemons = await testDatabase()
  onTestFinished(daemons.drop)
  const { status, err } = await runCommand('service keys list', { SERVICE_DATABASE_URL: daemons.url })
  expect(status).toBe(2)
  expect(err).toBe(
    'depositd: the database belongs to another application; the deposit service needs a database of its own\n',
  )
})

test('a database that files of another version made is refused, with how to start afresh', async () => {
  const other = await emptyDatabase()
  onTestFinished(other.drop)
  const environment = { SERVICE_DATABASE_URL: other.url }
  await runCommand('service keys list', environment)
  await run(other.url, `insert into kysely_migration (name, timestamp) values ('0002_api_keys', now())`)
  const { status, out, err } = await runCommand('service keys list', environment)
  expect({ status, out }).toEqual({ status: 4, out: '' })
  expect(err).toBe(
    "depositd: the deposit service's database was created by another version or program: this version has no migration 0002_api_keys, and it cannot upgrade from versions before 0.1.0; to start again, delete the folder .depositd, or use a new, empty database\n",
  )
})

test.each([
  [
    'mysql://me:hunter2@db/x',
    2,
    'SERVICE_DATABASE_URL must be an address that begins with postgres:// or postgresql://',
  ],
  ['', 2, 'SERVICE_DATABASE_URL is empty'],
  [
    'postgres://me:hunter2@127.0.0.1:1/x',
    4,
    "reaching the service's database: connect ECONNREFUSED 127.0.0.1:1",
  ],
])('a database at %j is told in one line, without its password', async (url, expected, message) => {
  const { status, err } = await runCommand('service keys list', { SERVICE_DATABASE_URL: url })
  expect({ status, err }).toEqual({ status: expected, err: `depositd: ${message}\n` })
})

test('without a database, and where no service runs, the line says how to start one', async () => {
  const folder = process.cwd()
  process.chdir(await temporaryFolder())
  onTestFinished(() => process.chdir(folder))
  expect(await runCommand('service keys list', {})).toEqual({
    status: 4,
    out: '',
    err: 'depositd: reaching the deposit service of this folder: it does not run; start it with "bin/depositd service"\n',
  })
})
