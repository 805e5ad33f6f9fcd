import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { canaryToken } from '../../src/core/canary.ts'
import { type CanaryResult, type SendCanaryDeps, sendCanary } from '../../src/jobs/canary.ts'
import { freePort, loopback } from '../../src/sandbox/free-port.ts'
import { receiveCanary } from '../../src/store/canary.ts'
import { type Books, openBooks } from '../support/books.ts'

let books: Books
let server: Server
let url: string
let answer: (body: Buffer) => Promise<number>
let results: CanaryResult[]

beforeEach(async () => {
  books = await openBooks()
  results = []
  server = createServer((request, response) => void handle(request, response))
  const port = await freePort()
  await new Promise<void>((resolve) => void server.listen(port, loopback, resolve))
  url = `http://${loopback}:${port}/`
})
afterEach(async () => {
  server.closeAllConnections()
  server.close()
  await books[Symbol.asyncDispose]()
})

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  response.writeHead(await answer(Buffer.concat(await request.toArray()))).end()
}

const observe = (result: CanaryResult) => void results.push(result)

function send(changes: Partial<SendCanaryDeps> = {}): Promise<void> {
  const times = { everyMs: 3_600_000, timeoutMs: 5000, now: () => new Date() }
  const secretsSetting = 'WEBHOOK_SECRETS_ACME'
  return sendCanary({ db: books.db, url, ...times, secretsSetting, sign: () => ({}), observe, ...changes })
}

test('is received if the intake records its token, and is sent once per interval', async () => {
  let posts = 0
  answer = async (body) => {
    posts++
    return (await receiveCanary(books.db, canaryToken(body) ?? '')) ? 202 : 500
  }
  await Promise.all(Array.from({ length: 5 }, () => send()))
  expect(results).toMatchObject([{ outcome: 'received', problem: null }])
  expect(posts).toBe(1)
})

test('a 202 without a recorded token counts as unrecorded', async () => {
  answer = () => Promise.resolve(202)
  await send()
  expect(results).toMatchObject([{ outcome: 'unrecorded' }])
  const { rows } = await sql`select succeeded_at from canary`.execute(books.db)
  expect(rows).toEqual([{ succeeded_at: null }])
})

test('sends nothing if no secret can sign', async () => {
  answer = () => Promise.reject(new Error('nothing was to be sent'))
  await send({ sign: () => null })
  expect(results).toMatchObject([
    {
      outcome: 'failed',
      problem: 'no currently valid secret of WEBHOOK_SECRETS_ACME can sign for this address',
    },
  ])
})
