import { createServer } from 'node:net'
import { sql } from 'kysely'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startDaemon } from '../../src/app/daemon.ts'
import { parseSettings } from '../../src/config/settings.ts'
import { freePort, loopback } from '../../src/sandbox/free-port.ts'
import { openDatabase } from '../../src/store/database.ts'
import type { Tables } from '../../src/store/tables.ts'
import type { Books } from '../support/books.ts'
import { serveBooks } from '../support/books-console.ts'
import { runCommand } from '../support/command.ts'
import { faultsOfPage, pageAt } from '../support/console-reader.ts'
import { txId } from '../support/evidence.ts'
import { openExampleBooks } from '../support/example-books.ts'
import { judgingEnvironment } from '../support/judging-environment.ts'
import { seal } from '../support/sealed-books.ts'
import { startStallingProxy } from '../support/stalling-proxy.ts'

let books: Books
let url: string
const stack = new AsyncDisposableStack()

/** The console of the example books. */
beforeAll(async () => {
  books = await openExampleBooks()
  stack.use(books)
  await seal(books)
  url = await serveBooks(books, stack)
})
afterAll(() => stack.disposeAsync())

const page = async (path: string) => pageAt(url + path)
const depositd = async (line: string) => (await runCommand(line, judgingEnvironment(books.url))).out

/** What people read of it. */
function wordsOf(text: string): string {
  const body = text.slice(text.indexOf('<main'), text.indexOf('</main>'))
  return body
    .replaceAll(/<time datetime="([^"]+)">[^<]*<\/time>/g, '$1')
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/&#(\d+);/g, (_all, code: string) => String.fromCharCode(Number(code)))
    .replaceAll(/\s+/g, ' ')
}

async function numberOf(serviceId: string): Promise<string> {
  const { rows } = await sql<{ id: bigint }>`select id from deposit where service_id = ${serviceId}`.execute(
    books.db,
  )
  return String(rows[0]?.id)
}

test('the overview tells how it stands', async () => {
  const { status, text } = await page('/')
  expect([status, faultsOfPage(text)]).toEqual([200, []])
  const words = wordsOf(text)
  expect(words).toMatch(/\d severe mismatch(es are open, the oldest| is open,) for .*may be lost\./)
  expect(words).toContain('Books balanced all rows are sealed')
  expect(words).toContain('Queue 4 waiting 1 active')
  expect(text).toMatch(/href="\/deposits\?state=reconciled&#38;network=base"/)
})

test('every page that a page leads to is there, and none has a fault', async () => {
  const seen = new Map<string, string[]>()
  const ahead = ['/']
  for (let path = ahead.pop(); path !== undefined; path = ahead.pop()) {
    // It leads back to the console, once the browser has the token.
    if (seen.has(path) || path === '/sign-in/token') continue
    const { status, text } = await pageAt(url.replace('127.0.0.1', 'localhost') + path)
    seen.set(path, [
      ...(status === 200 ? [] : [`${status}`]),
      ...(text.startsWith('<!') ? faultsOfPage(text) : []),
    ])
    const links = [...text.matchAll(/href="(\/[^"]*)"/g)].map(([, link = '']) =>
      link.replaceAll('&#38;', '&'),
    )
    ahead.push(...links)
  }
  expect(seen.size).toBeGreaterThan(15)
  expect([...seen].filter(([, faults]) => faults.length > 0)).toEqual([])
})

test('a deposit is told in the words of the command line', async () => {
  const id = await numberOf('dep_2')
  const words = wordsOf((await page(`/deposits/${id}`)).text)
  const reported = await depositd(`deposits show ${id}`)
  const facts = [...reported.matchAll(/^ {2,}(\S.*)$/gm)].map(([, line = '']) => line)
  const cells = facts.flatMap((line) => line.split(/ {2,}/)).filter((cell) => !/^[A-Z][A-Z ]*$/.test(cell))
  const heads = new Set(['mismatches', 'why', 'evidence', 'journals', 'none'])
  const missing = cells
    .flatMap((cell) => cell.split(/ \[inbox |\]$/))
    .map((cell) => cell.replace(/^(?:state|deposit\.\w+|settlement\.\w+|payment|delivery): /, ''))
    .filter((cell) => !heads.has(cell) && !words.includes(cell.trim()))
  expect(cells.length).toBeGreaterThan(40)
  expect(missing).toEqual([])
})

test('a deposit links to its transactions at a block explorer', async () => {
  const { text } = await page(`/deposits/${await numberOf('dep_1')}`)
  const [, paid] =
    /href="https:\/\/basescan\.org\/tx\/(0x\w+)" rel="noreferrer">Payment on base/.exec(text) ?? []
  expect(text.split(paid ?? 'no link').length).toBeGreaterThan(2)
})

test('a mismatch is told in the words of the command line, with its section of the runbook', async () => {
  const { rows } = await sql<{ id: bigint }>`
    select id from mismatch where kind = 'settlement_short' and cleared_at is null`.execute(books.db)
  const { text } = await page(`/mismatches/${rows[0]?.id}`)
  const words = wordsOf(text)
  const reported = await depositd(`mismatches show ${rows[0]?.id}`)
  for (const name of ['about', 'deposit', 'loss', 'says', 'means', 'next']) {
    const [, said = 'nothing'] = new RegExp(`^  ${name} +(.*)$`, 'm').exec(reported) ?? []
    expect(words).toContain(said)
  }
  expect(words).toMatch(/Runbook .*Means/)
})

test('a deposit is found by what people have in hand, and one that was absorbed is shown as the other', async () => {
  const id = await numberOf('dep_2')
  for (const reference of ['dep_2', txId('pay2'), txId('forward2').toUpperCase().replace('X', 'x'), id]) {
    const { status, headers } = await page(`/deposits/find?reference=${reference}`)
    expect([status, headers.get('location')]).toEqual([303, `/deposits/${id}`])
  }
  const { rows } = await sql<{ id: bigint }>`
    insert into deposit (group_id, merged_into, state, matrix)
    select group_id, id, state, matrix from deposit where service_id = 'dep_2' returning id`.execute(books.db)
  const absorbed = await page(`/deposits/${rows[0]?.id}`)
  expect([absorbed.status, absorbed.headers.get('location')]).toEqual([303, `/deposits/${id}`])
})

test('the ledger has each account exactly, and each asset as much debited as credited', async () => {
  const words = wordsOf((await page('/ledger')).text)
  const reported = JSON.parse(await depositd('ledger trial-balance --json')) as {
    items: { account: string; debit: string; balance: string }[]
  }
  expect(reported.items.length).toBeGreaterThan(8)
  for (const { account, debit, balance } of reported.items)
    expect(words).toMatch(new RegExp(`${account} ${debit} \\S+ ${balance.replaceAll('.', '\\.')}`))
  expect(words).not.toContain('NOT balanced')
  expect(words).toMatch(/2026-01 open \d+/)
})

test('the statement of an owner has the lines and balances of the command line, for the days that are asked for', async () => {
  const span = 'from=2026-01-01&to=2026-01-02'
  const reported = JSON.parse(
    await depositd('ledger statement channel:shop --from 2026-01-01 --to 2026-01-02 --json'),
  ) as { items: { line: string; kind: string | null; amount: string | null; balance: string }[] }
  expect(reported.items.map(({ line }) => line)).toContain('closing')
  const { text } = await page(`/ledger/statement?owner=channel:shop&${span}`)
  const rows = [...text.matchAll(/<tr role="row"><td.*<\/tr>/g)].map(([row]) => `<main${row}</main>`)
  expect(rows.length).toBe(reported.items.length)
  for (const [place, { line, kind, amount, balance }] of reported.items.entries()) {
    expect(wordsOf(rows[place] ?? '')).toContain(` ${kind ?? line} `)
    expect(wordsOf(rows[place] ?? '')).toContain(amount === null ? ` ${balance} ` : ` ${amount} ${balance} `)
  }
  expect((await page('/addresses')).text).toContain('href="/ledger/statement?owner=channel%3Ashop"')
  expect(wordsOf((await page(`/ledger/statement?owner=nothing&${span}`)).text)).toContain(
    'Nothing is booked for nothing.',
  )
  for (const odd of ['from=2026-02-30', 'to=9999-12-31', 'from=2026-01-02&to=2026-01-01'])
    expect((await page(`/ledger/statement?owner=shop&${odd}`)).status).toBe(400)
})

describe('filters', () => {
  test('show what fits, and the form keeps what was asked', async () => {
    const { text } = await page('/deposits?state=reconciled&owner=shop')
    expect(text).toContain('<option value="reconciled" selected>')
    expect(text).toContain('value="shop"')
    expect(wordsOf(text)).not.toContain('confirmed shop')
    expect(wordsOf((await page('/deposits?owner=nobody')).text)).toContain('No deposits.')
    expect(wordsOf((await page('/mismatches?severity=info')).text)).toContain('No mismatches.')
    expect(wordsOf((await page('/mismatches?kind=settlement_short&network=base')).text)).toContain(
      'settlement_short',
    )
  })
})

/** What a session of the console asks Postgres for when it begins. */
async function beginningOf(): Promise<string> {
  await using own = new AsyncDisposableStack()
  const { promise, resolve } = Promise.withResolvers<string>()
  const server = createServer((socket) => {
    socket
      .on('error', () => undefined)
      .once('data', (data) => {
        resolve(data.toString('latin1'))
        socket.destroy()
      })
  })
  own.defer(() => void server.close())
  const port = await freePort()
  await new Promise<void>((listening) => server.listen(port, loopback, listening))
  const there = await serveBooks(
    books,
    own,
    judgingEnvironment(`postgres://somebody@${loopback}:${port}/books`),
  )
  expect((await pageAt(`${there}/deposits`)).status).toBe(503)
  return promise
}

test('whoever asks, nothing can be written by it, and no statement may take long', async () => {
  const asked = await beginningOf()
  for (const option of ['role=depositd_viewer', 'default_transaction_read_only=on', 'statement_timeout=5000'])
    expect(asked).toContain(`-c ${option}`)
  const like = openDatabase<Tables>({
    url: books.url,
    poolMax: 1,
    applicationName: 'test',
    role: 'depositd_viewer',
    readOnlyWithinMs: 1000,
  })
  await expect(sql`insert into owner (kind, id) values ('channel', 'x')`.execute(like)).rejects.toThrow(
    'read-only transaction',
  )
  await expect(sql`select pg_sleep(5)`.execute(like)).rejects.toThrow('statement timeout')
  await like.destroy()
})

test('where the database stands still, every page says so, and is there again after', async () => {
  await using own = new AsyncDisposableStack()
  const proxy = own.use(await startStallingProxy(books.url))
  const there = await serveBooks(books, own, judgingEnvironment(proxy.url))
  expect((await pageAt(`${there}/ledger`)).status).toBe(200)
  proxy.stall()
  const [list, one, overview] = await Promise.all(
    ['/deposits', '/deposits/1', '/'].map((path) => pageAt(there + path)),
  )
  expect([list?.status, one?.status]).toEqual([503, 503])
  expect(list?.text).toContain('This cannot be read now')
  expect(overview?.status).toBe(200)
  expect(overview?.text).toContain('Cannot be read now')
  expect((await pageAt(`${there}/ledger`)).status).toBe(200)
  proxy.resume()
  await expect.poll(async () => (await pageAt(`${there}/deposits`)).status).toBe(200)
})

test('a daemon shows its console on the ops port, and nothing of it on the port of webhooks', async () => {
  const ports = { HTTP_HOST: loopback, HTTP_PORT: `${await freePort()}`, OPS_PORT: `${await freePort()}` }
  const environment = { ...judgingEnvironment(books.url, ports), QUEUE_URL: books.url }
  const log = pino({ level: 'silent' })
  const daemon = await startDaemon(
    parseSettings(environment, () => ''),
    { roles: ['http'], version: 'test', log },
  )
  try {
    const { status, text } = await pageAt(`${daemon.opsUrl}/`)
    expect([status, faultsOfPage(text)]).toEqual([200, []])
    expect(wordsOf(text)).toContain('Books balanced')
    expect(wordsOf(text)).toMatch(/What works .*database fine/)
    expect((await pageAt(`http://${loopback}:${ports.HTTP_PORT}/deposits`)).status).toBe(404)
  } finally {
    await daemon.stop()
  }
})
