import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { numberEvents } from '../../src/store/events.ts'
import type { Books } from '../support/books.ts'
import { forwarded, paymentOf } from '../support/example-books.ts'
import { temporaryFolder } from '../support/folder.ts'
import { programEnvironment } from '../support/program-environment.ts'
import { isInstalled } from '../support/programs-needed.ts'
import { openReadBooks, serveReadApi } from '../support/read-api.ts'
import { readText, root } from './pages.ts'

/** What the API does to a request, as its callers see it. */
type Outage = 'none' | 'refuses' | 'hangs up' | 'is cut off'

let stack: AsyncDisposableStack
let books: Books
let outage: Outage
/** How many answers were sent whole. */
let answered: number
let failed: number
let limited: string
let environment: Record<string, string>
let file: string

beforeEach(async () => {
  stack = new AsyncDisposableStack()
  books = stack.use(await openReadBooks())
  const api = await serveReadApi(books, stack)
  const token = await api.token({ scopes: ['read_deposits'] })
  limited = await api.token({ scopes: ['read_deposits'], owners: ['savings'] })
  ;[outage, answered, failed] = ['none', 0, 0]
  environment = { API: await serveBefore(api.url), TOKEN: token }
  file = join(await temporaryFolder(), 'credits.db')
})
afterEach(() => stack.disposeAsync())

/** Passes requests on to the API, unless it is out. */
async function serveBefore(url: string): Promise<string> {
  const server = createServer((request, response) => {
    const gone = new AbortController()
    response.on('close', () => gone.abort())
    const headers = { authorization: request.headers.authorization ?? '' }
    fetch(url + request.url, { headers, signal: gone.signal })
      .then(async (answer) => send(response, answer.status, await answer.text()))
      .catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  stack.defer(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function send(response: ServerResponse, status: number, body: string): void {
  if (outage !== 'none') failed++
  switch (outage) {
    case 'none':
      response.writeHead(status).end(body, () => answered++)
      return
    case 'refuses':
      response.writeHead(503).end()
      return
    case 'hangs up':
      response.destroy()
      return
    case 'is cut off':
      response
        .writeHead(status, { 'content-length': body.length })
        .write(body.slice(0, 40), () => response.destroy())
  }
}

type Entry = { event: number; deposit: string; customer: string; asset: string; amount: string }

function stored(): { after: number; entries: Entry[] } {
  using db = new DatabaseSync(file, { readOnly: true })
  const { after } = db.prepare('select after from position').get() as { after: number }
  return { after, entries: db.prepare('select * from entry order by event').all() as Entry[] }
}

const isAt = (after: number) => expect.poll(() => stored().after, { timeout: 20_000 }).toBe(after)

async function newest(): Promise<number> {
  await numberEvents(books.db)
  const { rows } = await sql<{ newest: number }>`select max(sequence)::int as newest from event`.execute(
    books.db,
  )
  return rows[0]?.newest ?? 0
}

/** As if a deposit left its chain whose credit had been withdrawn before. */
async function reverseAgain(): Promise<void> {
  await sql`
    insert into event_pending (type, deposit_id, data)
    select type, deposit_id, data from event_pending where type = 'deposit.reversed'`.execute(books.db)
}

/** What the books say that may be credited, by customer and asset. */
async function owed(): Promise<Record<string, bigint>> {
  const { rows } = await sql<{ key: string; amount: string }>`
    select concat_ws(' ', d.owner_id, c.asset) as key, sum(c.amount)::text as amount
    from (select distinct on (deposit_id) * from credit_safety order by deposit_id, number desc) as c
      join deposit d on d.id = c.deposit_id
    where c.action = 'safe' group by 1`.execute(books.db)
  return Object.fromEntries(rows.map(({ key, amount }) => [key, BigInt(amount)]))
}

function balances(entries: readonly Entry[]): Record<string, bigint> {
  const sums: Record<string, bigint> = {}
  for (const { customer, asset, amount } of entries) {
    const key = `${customer} ${asset}`
    sums[key] = (sums[key] ?? 0n) + BigInt(amount)
  }
  return Object.fromEntries(Object.entries(sums).filter(([, sum]) => sum !== 0n))
}

const lost = { number: 21, minutes: 100, paid: 5_000_000n }

async function pay(number: number): Promise<void> {
  await books.receive(
    ...forwarded({ number, minutes: 100, paid: 7_000_000n, stated: 7_000_000n, delivered: 7_000_000n }),
  )
  await books.settle()
}

const languages = ['node', 'python3'] as const

describe.each(languages)('the consumer that %s runs', (program) => {
  const path = `docs/examples/credit-consumer.${program === 'node' ? 'ts' : 'py'}`
  const start = () => startConsumer(program === 'node' ? process.execPath : program, path)

  test('has at most fifty lines', () => {
    expect(readText(path).trimEnd().split('\n').length).toBeLessThanOrEqual(50)
  })

  describe.skipIf(program === 'python3' && !isInstalled(program))('as it is written', () => {
    test('credits each customer once, also if it reads from 0 again', { timeout: 60_000 }, async () => {
      const last = await newest()
      const first = start()
      await isAt(last)
      const { entries } = stored()
      expect(entries.length).toBeGreaterThan(3)
      expect(balances(entries)).toEqual(await owed())
      await pay(30)
      await isAt(await newest())
      const more = stored().entries
      expect(more.length).toBe(entries.length + 1)
      expect(balances(more)).toEqual(await owed())
      await kill(first)
      rewind()
      start()
      await isAt(await newest())
      expect(stored().entries).toEqual(more)
    })

    test('that is killed between reading and storing stores it once after its start', {
      timeout: 60_000,
    }, async () => {
      const last = await newest()
      const child = start()
      await isAt(last)
      const before = stored()
      const lock = new DatabaseSync(file)
      lock.exec('begin immediate')
      const sent = answered
      await pay(30)
      await newest()
      await expect.poll(() => answered, { timeout: 20_000 }).toBeGreaterThan(sent)
      // Until it has read the answer, and waits for the lock.
      await new Promise((resolve) => setTimeout(resolve, 500))
      await kill(child)
      lock.close()
      expect(stored()).toEqual(before)
      start()
      await isAt(await newest())
      expect(stored().entries.length).toBe(before.entries.length + 1)
      expect(balances(stored().entries)).toEqual(await owed())
    })

    test('waits while the API is out, and misses nothing', { timeout: 120_000 }, async () => {
      for (const [place, kind] of (['refuses', 'hangs up', 'is cut off'] as const).entries()) {
        ;[outage, failed] = [kind, 0]
        await pay(30 + place)
        const last = await newest()
        const child = start()
        await expect.poll(() => failed, { timeout: 20_000 }).toBeGreaterThan(1)
        outage = 'none'
        await isAt(last)
        expect(balances(stored().entries)).toEqual(await owed())
        await kill(child)
      }
    })

    test('takes back a credit that is withdrawn, and gives it again once it is safe again', {
      timeout: 60_000,
    }, async () => {
      await books.receive(...forwarded({ ...lost, stated: lost.paid, delivered: lost.paid }))
      await books.settle()
      const child = start()
      await isAt(await newest())
      const before = stored().entries
      const isBack = { epoch: 2, blockHash: '0xb10d', height: 11n }
      for (const [change, sign] of [
        [{ stage: 'orphaned', epoch: 1 }, '-'],
        [isBack, ''],
      ] as const) {
        await books.receive({ ...paymentOf(lost), ...change })
        await books.settle()
        if (sign === '-') await reverseAgain()
        await isAt(await newest())
        expect(stored().entries.at(-1)).toMatchObject({ amount: `${sign}${lost.paid}`, customer: 'shop' })
        expect(balances(stored().entries)).toEqual(await owed())
      }
      const { entries } = stored()
      expect(entries.length).toBe(before.length + 2)
      await kill(child)
      rewind()
      start()
      await isAt(await newest())
      expect(stored().entries).toEqual(entries)
    })

    test('that reads from 0 again takes nothing back for a reversal before the credit', {
      timeout: 60_000,
    }, async () => {
      const [, ...claims] = forwarded({ ...lost, stated: lost.paid, delivered: lost.paid })
      for (const observations of [
        [paymentOf(lost)],
        [{ ...paymentOf(lost), stage: 'orphaned', epoch: 1 } as const],
        [{ ...paymentOf(lost), epoch: 2, blockHash: '0xb10d', height: 11n }, ...claims],
      ]) {
        await books.receive(...observations)
        await books.settle()
      }
      const child = start()
      await isAt(await newest())
      const { entries } = stored()
      expect(entries.at(-1)).toMatchObject({ amount: `${lost.paid}` })
      await kill(child)
      rewind()
      start()
      await isAt(await newest())
      expect(stored().entries).toEqual(entries)
    })

    test('stops if events are missing, and if its token is refused', { timeout: 60_000 }, async () => {
      environment = { ...environment, TOKEN: limited }
      expect(await endOf(start())).toMatch(/event \d+ follows \d+/)
      expect(stored().after).toBe(0)
      environment = { ...environment, TOKEN: 'unknown' }
      expect(await endOf(start())).toContain('token_unknown')
    })
  })
})

function startConsumer(command: string, path: string): ChildProcess {
  const child = spawn(command, [join(root, path), file], {
    env: { ...programEnvironment, ...environment },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  stack.defer(() => kill(child))
  return child
}

/** What it wrote as an error, once it has failed. */
async function endOf(child: ChildProcess): Promise<string> {
  const [said, [status]] = await Promise.all([text(child.stderr as Readable), once(child, 'exit')])
  expect(status).toBe(1)
  return said
}

function rewind(): void {
  using db = new DatabaseSync(file, { timeout: 5000 })
  db.exec('update position set after = 0')
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}
