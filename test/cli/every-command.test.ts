import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import type { Command } from 'commander'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeProgram } from '../../src/cli/run.ts'
import { type NetworkName, parseAddress } from '../../src/core/asset.ts'
import { defaultService } from '../../src/core/evidence.ts'
import { inTransaction } from '../../src/store/database.ts'
import { numberEvents } from '../../src/store/events.ts'
import { addPrices } from '../../src/store/ledger/prices.ts'
import { saveOwner } from '../../src/store/owners.ts'
import { keepQuarantined } from '../../src/store/quarantine.ts'
import { type Books, openBooks } from '../support/books.ts'
import { runCommand } from '../support/command.ts'
import { payment, txId, usdcOnBase } from '../support/evidence.ts'
import { bookPayments, seal } from '../support/sealed-books.ts'

const context = { arguments: [], environment: {}, stdout: new PassThrough(), stderr: new PassThrough() }

/** Every command that does something, by its words. */
function leavesOf(command: Command, words: readonly string[] = []): [string, Command][] {
  const own: [string, Command][] = command.commands.length === 0 ? [[words.join(' '), command]] : []
  return [...own, ...command.commands.flatMap((one) => leavesOf(one, [...words, one.name()]))]
}

const commands = new Map(leavesOf(describeProgram(context, () => undefined)))

const takes = (name: string, option: string) =>
  commands.get(name)?.options.some(({ long }) => long === option) === true
const named = (option: string) => [...commands.keys()].filter((name) => takes(name, option))

/** Reports that show so much of what they found and count the rest: paging would make them anew. */
const reports = ['rebuild', 'ledger open', 'ledger verify', 'reconcile']

const lists = named('--limit').filter((name) => !reports.includes(name))

/** They run until they are stopped, write settings, or print a format of their own. */
const withoutJson = ['start', 'compose-setup', 'ledger checkpoints export', 'completion']

const folder = process.cwd()
let books: Books
let environment: Record<string, string>

beforeAll(async () => {
  process.chdir(mkdtempSync(join(tmpdir(), 'depositd-commands-')))
  books = await openBooks()
  await fill(books)
  environment = { DATABASE_URL: books.url, SERVICE_DATABASE_URL: books.url }
})
afterAll(async () => {
  process.chdir(folder)
  await books[Symbol.asyncDispose]()
})

/** At least two rows of each list that is paged below. */
async function fill({ db, receive, settle }: Books): Promise<void> {
  await receive(payment({ tx: txId('one') }), payment({ tx: txId('two') }))
  await settle()
  await numberEvents(db)
  await seal(books)
  await bookPayments(books, 4, 2)
  await seal(books)
  const deposits = [
    { network: 'arbitrum' as NetworkName, address: parseAddress('evm', `0x${'1'.repeat(40)}`) },
    { network: 'base' as NetworkName, address: parseAddress('evm', `0x${'2'.repeat(40)}`) },
  ]
  await saveOwner(db, { owner: { kind: 'stable_wallet', id: 'kiosk' }, deposits, forward: null })
  const delivery = {
    service: defaultService,
    receivedAt: new Date(),
    source: 'x',
    reason: 'unsigned',
    headers: {},
    body: Buffer.from(''),
  }
  await keepQuarantined(db, [delivery, delivery], { rowsMax: 10, bytesMax: 10_000 })
  const price = { asset: usdcOnBase, currency: 'EUR', price: '1', at: new Date('2026-01-01') }
  await inTransaction(db, (tx) =>
    addPrices(tx, [
      { ...price, source: 'a' },
      { ...price, source: 'b' },
    ]),
  )
}

test('every command prints JSON, and every list is paged', () => {
  expect([...commands.keys()].filter((name) => !takes(name, '--json')).toSorted()).toEqual(
    withoutJson.toSorted(),
  )
  expect(named('--after').toSorted()).toEqual(lists.toSorted())
  const asLists = [...commands.keys()].filter((name) => name.endsWith(' list'))
  expect(asLists.filter((name) => !lists.includes(name))).toEqual([])
})

const numbers = [...commands].flatMap(([name, { options }]) =>
  options
    .filter(({ flags }) => /<(?:count|number|seconds|height)>/.test(flags))
    .map((option) => [name, option] as const),
)

test.each(numbers.map(([name, option]) => [name, option.long, option] as const))(
  'the help of %s %s states the range that it accepts',
  (_, long, { description, parseArg }) => {
    const [, min = '', max = ''] = /: (\d+) to (\d+)$/.exec(description) ?? []
    const parse = (text: string): unknown => parseArg?.(text, undefined)
    expect([min, max].map(parse)).toEqual([Number(min), Number(max)])
    for (const outside of [`${Number(min) - 1}`, `${Number(max) + 1}`, `${min}.5`, 'x'])
      expect(() => parse(outside)).toThrow(
        expect.objectContaining({
          details: { problem: `${long} is "${outside}"`, fix: `give a whole number from ${min} to ${max}` },
        }),
      )
  },
)

test.each(lists)('%s prints one page in one envelope, or one error', async (name) => {
  const words = name === 'ledger statement' ? `${name} shop` : name
  const { out } = await runCommand(`${words} --json`, environment)
  const document = JSON.parse(out)
  if ('error' in document) expect(document.error).toMatchObject({ message: expect.stringMatching(/./) })
  else expect(document).toMatchObject({ items: expect.any(Array), next: null })
})

test.each(lists)('%s refuses a cursor that is none of its own', async (name) => {
  const words = name === 'ledger statement' ? `${name} shop` : name
  const other = Buffer.from('["other","1"]').toString('base64url')
  for (const cursor of ['17', other]) {
    const { status, out } = await runCommand(`${words} --json --after ${cursor}`, environment)
    expect({ status, ...JSON.parse(out) }).toMatchObject({
      status: name.startsWith('service') ? expect.any(Number) : 2,
      error: { code: expect.any(String) },
    })
  }
})

/** Words that each command takes: enough that it gets as far as the database. */
function complete(name: string): string {
  const command = commands.get(name)
  const values: Readonly<Record<string, string>> = {
    '--format': 'csv',
    '--scope': 'read',
    '--network': 'base',
    '--from': '1',
    '--at': '2026-01-01',
    '--until': '24h',
  }
  const options = (command?.options ?? [])
    .filter(({ mandatory }) => mandatory)
    .map(({ long }) => `${long} ${values[long ?? ''] ?? 'x'}`)
  const given = (command?.registeredArguments ?? []).filter(({ required }) => required).map(() => '99')
  return [name, ...given, ...options].join(' ')
}

const withJson = named('--json').filter((name) => !['service start', 'onboard'].includes(name))

test.each(withJson)('%s prints one document also for a wrong option, with status 2', async (name) => {
  const { status, out, err } = await runCommand(`${complete(name)} --json --nonsense`, environment)
  expect({ status, err }).toEqual({ status: 2, err: '' })
  expect(JSON.parse(out)).toMatchObject({
    error: { code: 'usage_bad', message: expect.stringContaining('nonsense') },
  })
})

/** A key is made without a database. */
const withDatabase = withJson.filter((name) => !['ledger key create', 'people key'].includes(name))

test.each(withDatabase)('%s without its database is one document, and never fine', async (name) => {
  const away = 'postgres://x@127.0.0.1:1/x'
  const { status, out } = await runCommand(`${complete(name)} --json`, {
    DATABASE_URL: away,
    SERVICE_DATABASE_URL: away,
  })
  const document = JSON.parse(out)
  if (lists.includes(name)) expect([status, document.error?.code]).toEqual([4, 'remote_failed'])
  else expect([1, 2, 4]).toContain(status)
})

type Page = { items: object[]; next: string | null }

async function page(line: string): Promise<Page> {
  const { status, out } = await runCommand(`${line} --json`, environment)
  expect(status, out).toBe(0)
  return JSON.parse(out) as Page
}

test.each([
  'deposits list',
  'events list',
  'mismatches list',
  'wallets list',
  'webhooks quarantine list',
  'ledger journal list',
  'ledger balances',
  'ledger checkpoints list',
  'ledger prices list',
])('the pages of %s are together the whole list', async (name) => {
  const whole = await page(name)
  expect(whole.items.length).toBeGreaterThan(1)
  const pages: Page[] = [await page(`${name} --limit 1`)]
  for (let next = pages[0]?.next ?? null; next !== null; next = pages.at(-1)?.next ?? null)
    pages.push(await page(`${name} --limit 1 --after ${next}`))
  expect(pages.map(({ items }) => items.length)).toEqual(whole.items.map(() => 1))
  expect(pages.flatMap(({ items }) => items)).toMatchObject(whole.items.map(ageless))
})

/** The age of a mismatch grows from one page to the next. */
function ageless(item: object): object {
  return Object.fromEntries(Object.entries(item).filter(([name]) => !['age', 'act_in'].includes(name)))
}

test.each([
  ['deposits list --state foo', 'use observed, confirmed, settling'],
  ['deposits list --network bsae', 'did you mean base? use arbitrum, base'],
  ['deposits list --owner shpo', 'did you mean shop?'],
  ['ledger journal list --kind depsit', 'did you mean deposit?'],
])('%s is refused with the valid values', async (line, fix) => {
  const { status, out, err } = await runCommand(line, environment)
  expect({ status, out }).toEqual({ status: 2, out: '' })
  expect(err).toContain(fix)
})
