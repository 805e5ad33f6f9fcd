import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { ledgerMethods } from './ledger.ts'
import { type PaymentsSettings, paymentsOf } from './payments.ts'

/** The Solana node of B6 in a process of its own; its parent is told the address, and ends it by closing the channel. */

export type SolanaCounts = { answered: number; refused: number; calls: Record<string, number> }

export type ServeSettings = PaymentsSettings & { latencyMs: number; quotaPercent: number }

type Call = { id: unknown; method: string; params: [string, Record<string, never>?] }

const settings = JSON.parse(process.argv[2] ?? '{}') as ServeSettings
process.once('disconnect', () => process.exit(0))
const methods = ledgerMethods(await paymentsOf(settings))
const quotaEvery = Math.round(100 / settings.quotaPercent)
let counts: SolanaCounts = { answered: 0, refused: 0, calls: {} }
let asked = 0

const server = createServer((request, response) => void answerCall(request, response))

async function answerCall(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { id, method, params } = JSON.parse(await text(request)) as Call
  await sleep(settings.latencyMs)
  asked += 1
  if (asked % quotaEvery === 0) {
    counts.refused += 1
    response.writeHead(429).end('Too many requests')
    return
  }
  counts.answered += 1
  counts.calls[method] = (counts.calls[method] ?? 0) + 1
  const [first, second] = params
  const answer = methods[method]
  const body =
    answer === undefined
      ? { error: { code: -32601, message: 'Method not found' } }
      : { result: answer(first, second ?? {}) }
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ jsonrpc: '2.0', id, ...body }))
}

server.keepAliveTimeout = 3_600_000
server.listen(0, '127.0.0.1')
await once(server, 'listening')

/** Tells what it was asked since it was asked for that before. */
process.on('message', () => {
  process.send?.(counts)
  counts = { answered: 0, refused: 0, calls: {} }
})
process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
