import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { decisionsCheck } from '../../../src/jobs/people/check-decisions.ts'
import { writeKey } from '../../service/fixtures.ts'
import { type OpenApi, openApi } from '../../service/http/open-api.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { runCommand } from '../../support/command.ts'
import { temporaryFolderOfFile } from '../../support/folder.ts'
import { judgingEnvironment } from '../../support/judging-environment.ts'
import { addPeople, runDecided, signers, signingKeys } from '../../support/people.ts'
import { tamper } from '../../support/tamper.ts'

let api: OpenApi
let books: Books
const folder = temporaryFolderOfFile()
let environment: Record<string, string>

beforeAll(async () => {
  ;[api, books] = await Promise.all([openApi(), openBooks()])
  await addPeople(books.owner)
  environment = judgingEnvironment(books.url, { SERVICE_URL: api.url, SERVICE_API_KEY: writeKey })
})
afterAll(async () => {
  await api.close()
  await books[Symbol.asyncDispose]()
})

/** Erin decides, and max approves if that is needed. */
const depositd = (line: string) => runDecided(line, environment)
const rows = async (line: string) =>
  (
    JSON.parse((await depositd(`${line} --json`)).out) as {
      items: { id: string; book?: string; address: string; [name: string]: unknown }[]
    }
  ).items

function file(name: string, content: string): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

const create =
  'channels create till --network base --asset USDC --recipient 0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'

test('a channel that is created twice is listed once, as the service has it', async () => {
  expect((await depositd(create)).status).toBe(0)
  expect((await depositd(create)).status).toBe(0)
  const listed = await rows('channels list')
  expect(listed.filter(({ id }) => id === 'till')).toHaveLength(4)
  const remote = await rows('channels list --remote')
  expect(remote.map(({ id, book }) => `${id} ${book}`)).toEqual(Array.from({ length: 4 }, () => 'till same'))
})

test('what the service lists can be imported as it is printed', async () => {
  await using other = await openBooks()
  await addPeople(other.owner)
  environment = { ...environment, DATABASE_URL: other.url }
  const remote = await depositd('channels list --remote --json')
  expect(
    new Set((JSON.parse(remote.out) as { items: { book: string }[] }).items.map(({ book }) => book)),
  ).toEqual(new Set(['unknown']))
  const path = file('remote.json', remote.out)
  const dry = await depositd(`channels import ${path} --dry-run`)
  expect(dry.out).toBe('1 owner with 4 addresses; 1 would be added, 0 already in the address book\n')
  expect(await rows('channels list')).toHaveLength(1)
  const added = (await depositd(`channels import ${path}`)).out
  expect(added).toMatch(
    /^1 owner with 4 addresses; 1 new, 0 already in the address book\n1 owner added; all their addresses are watched, by erin, decision \d+\n/,
  )
  expect(added).toMatch(/^channel\/till +base +0x\S+ +deposit address$/m)
  expect(JSON.parse((await depositd(`channels import ${path} --json`)).out)).toEqual({
    owners: 1,
    added: 0,
    addresses: 4,
    dry_run: false,
  })
  expect((await rows('channels list --remote')).map(({ book }) => book)).toEqual([
    'same',
    'same',
    'same',
    'same',
  ])
  await tamper(
    other,
    "update address_book set address = '0x00000000000000000000000000000000000000f1' where owner_id = 'till' and network = 'base'",
  )
  expect((await depositd('channels list --remote')).out).toMatch(/^till +base .* differs$/m)
  environment = { ...environment, DATABASE_URL: books.url }
})

test('every fault of a file is named with its line, and nothing is stored', async () => {
  const path = file(
    'bad.csv',
    'id,network,address\na,base,0xdead\nb,base\nc,moon,0x00000000000000000000000000000000000000c1\nd,base,0x00000000000000000000000000000000000000d1\n',
  )
  const { status, err, out } = await depositd(`wallets import ${path}`)
  expect({ status, out }).toEqual({ status: 2, out: '' })
  expect(err.split('\n').map((line) => line.trim())).toEqual([
    expect.stringMatching(/^depositd: bad.csv line 2: 0xdead is not an address on base/),
    'bad.csv line 3: has 2 cells, and the first line names 3',
    'bad.csv line 4: unknown network moon; known networks: mainnet, base, arbitrum, solana',
    '',
  ])
  expect((await rows('wallets list')).map(({ id }) => id)).toEqual(['savings'])
})

test.each([
  [
    'wallets import nobody.csv',
    /^depositd: nobody.csv cannot be read: ENOENT.*; give the path of a readable file\n$/,
  ],
  [
    'wallets import wallets.xls',
    /^depositd: wallets.xls is neither .csv nor .json; rename the file to .csv or .json\n$/,
  ],
])('%s is refused in one line', async (line, error) => {
  expect(await depositd(line)).toEqual({ status: 2, out: '', err: expect.stringMatching(error) })
})

test('an address that is retired is listed with who ended it, until when and why, and can be valid again', async () => {
  const path = file(
    'kiosk.csv',
    `id,network,address,valid_from\nkiosk,base,0x${'0'.repeat(38)}c7,2026-01-02\n`,
  )
  expect((await depositd(`wallets import ${path}`)).status).toBe(0)
  const { out } = await depositd(`wallets retire kiosk --at 2026-03-01 --reason moved`)
  expect(out).toContain(
    `\nbase       0x${'0'.repeat(38)}c7 is valid until 2026-03-01T00:00:00.000Z, and watched further on\n`,
  )
  const [kiosk] = await rows('wallets list')
  expect(kiosk).toMatchObject({
    id: 'kiosk',
    valid_from: '2026-01-02T00:00:00.000Z',
    valid_until: '2026-03-01T00:00:00.000Z',
    added_by: 'erin',
    approved_by: null,
    ended_by: 'erin',
    end_approved_by: null,
    end_reason: 'moved',
  })
  expect((await depositd('wallets list')).out).toMatch(
    /^kiosk +base .* 2026-01-02T00:00:00.000Z +2026-03-01T00:00:00.000Z +erin$/m,
  )
  const listed = file('listed.json', (await depositd('wallets list --json')).out)
  expect((await depositd(`wallets import ${listed}`)).err).toContain('valid_until cannot be imported')
  const again = await depositd(`wallets retire kiosk --withdraw --reason found --json`)
  expect(JSON.parse(again.out)).toMatchObject({
    valid_until: null,
    addresses: [{ network: 'base', before: '2026-03-01T00:00:00.000Z' }],
  })
  expect((await rows('wallets list'))[0]).toMatchObject({ valid_until: null, end_reason: 'found' })
  await depositd('wallets retire kiosk --at 2026-03-01 --reason lost --break-glass erin')
  expect((await depositd('wallets list')).out).toMatch(/2026-03-01T00:00:00.000Z, not signed +erin$/m)
})

test.each<[line: string, problem: string, expected?: number]>([
  ['wallets retire kiosk', "required option '--reason <text>' not specified"],
  ['wallets retire kiosk --reason x --at 2026-01-01 --withdraw', 'cannot be used with'],
  ['wallets retire nobody --reason x', 'wallet nobody not found', 3],
  ['wallets retire kiosk --reason x --network arbitrum', 'wallet kiosk on arbitrum not found', 3],
  ['wallets retire kiosk --reason x --network moon', '--network is "moon"'],
])('%s is refused', async (line, problem, expected = 2) => {
  const { status, err } = await depositd(line)
  expect(err).toContain(problem)
  expect(status).toBe(expected)
})

test('with addressBook.secondPerson, every change of the address book takes a second person', async () => {
  const strict = {
    ...environment,
    DEPOSITD_CONFIG: file('strict.yaml', 'addressBook: { secondPerson: true }'),
  }
  const path = file('stall.csv', `id,network,address\nstall,base,0x${'0'.repeat(38)}c8\n`)
  const erin = { ...strict, ...signingKeys.erin }
  const changes = ['wallets create jar', `wallets import ${path}`, 'wallets retire kiosk --reason x']
  for (const change of changes)
    expect((await runCommand(change, erin)).out, change).toMatch(/decision \d+ is requested by erin/)
  expect((await rows('wallets list')).map(({ id }) => id)).toEqual(['kiosk', 'savings'])
  expect((await runDecided(`wallets retire kiosk --reason gone`, strict)).out).toContain('approved by max')
  const [kiosk] = await rows('wallets list')
  expect(kiosk).toMatchObject({ ended_by: 'erin', end_approved_by: 'max', end_reason: 'gone' })
})

test('without a key, nothing is created at the service', async () => {
  const { err } = await runCommand('wallets create unsigned', environment)
  expect(err).toContain('no SIGNING_KEY is set')
  expect((await rows('wallets list --remote')).map(({ id }) => id)).not.toContain('unsigned')
})

test('an entry is what was signed, and one that was altered or forged is found', async () => {
  const check = async () => (await decisionsCheck(signers.erin.key).run(books.db, () => undefined)).findings
  expect(await check()).toEqual([])
  await tamper(
    books,
    "update address_book set address = '0x00000000000000000000000000000000000000f2' where owner_id = 'kiosk'",
  )
  expect((await check()).join()).toMatch(/address \d+ names decision \d+, in which other things were signed/)
})
