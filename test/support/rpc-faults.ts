import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { isSeveral, type RawDocument, type RawScript, says } from './raw-node.ts'

/** A way in which a server between the daemon and a node is of no use. */
export type RpcFault = {
  name: string
  /** Over a server that answers well. */
  script: (url: string) => RawScript
  /** Answers end only when the client gives up. */
  hangs?: boolean
}

const page = '<html><body><h1>Bad gateway</h1></body></html>'
const overloaded = { code: -32005, message: 'daily request count exceeded, request rate limited' }

export const rpcFaults: readonly RpcFault[] = [
  {
    name: 'asks to slow down by its status',
    script: () => says('slow down', 429, { 'retry-after': '1' }),
  },
  { name: 'asks to slow down by a code', script: () => states(overloaded) },
  { name: 'says that it is not there for now', script: () => says(page, 503, { 'retry-after': '1' }) },
  { name: 'is a gateway before nothing', script: () => says(page, 502) },
  { name: 'fails within', script: () => states({ code: -32603, message: 'internal error' }, 500) },
  { name: 'has a page for an answer', script: () => says(page) },
  { name: 'hangs up', script: () => (response) => response.destroy() },
  { name: 'ends within its answer', script: (url) => rewrites(url, (answer) => answer.slice(0, -4)) },
  { name: 'is cut off within its answer', script: cutsOff },
  { name: 'answers what was not asked', script: (url) => rewrites(url, withAnotherId) },
  { name: 'sends elsewhere', script: (url) => says('', 307, { location: url }) },
  { name: 'sends 500 MB', script: () => sendsForEver, hangs: true },
  { name: 'sends 500 MB in little', script: () => bomb },
  { name: 'never answers', script: () => () => undefined, hangs: true },
  { name: 'drips', script: () => drips, hangs: true },
]

/** The server itself. */
export const passesOn = (url: string): RawScript => rewrites(url, (answer) => answer)

/** Leaves out the last answer of several, or all answers but the first. */
export const answersInPart =
  (url: string): RawScript =>
  (response, asked) =>
    rewrites(url, isSeveral(asked) ? withoutLast : (answer) => answer)(response, asked)

export const bodyBytes = 500 * 1024 * 1024
const pieceBytes = 1024 * 1024

function rewrites(url: string, change: (answer: string) => string): RawScript {
  return (response, asked) => {
    const answer = async () => {
      const changed = change(await answerOf(url, asked))
      response.writeHead(200, { 'content-type': 'application/json' }).end(changed)
    }
    answer().catch(() => response.destroy())
  }
}

async function answerOf(url: string, asked: RawDocument): Promise<string> {
  const headers = { 'content-type': 'application/json' }
  return (await fetch(url, { method: 'POST', headers, body: JSON.stringify(asked) })).text()
}

function states(error: object, status = 200): RawScript {
  return (response, asked) => {
    const id = isSeveral(asked) ? null : asked.id
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ jsonrpc: '2.0', id, error }))
  }
}

function withAnotherId(answer: string): string {
  return answer.replace(/"id":("?)(\d+)/g, (_all, quote: string, id: string) => `"id":${quote}${id}7`)
}

function withoutLast(answer: string): string {
  return JSON.stringify((JSON.parse(answer) as unknown[]).slice(0, -1))
}

function cutsOff(url: string): RawScript {
  return (response, asked) => {
    const answer = async () => {
      const whole = await answerOf(url, asked)
      response.writeHead(200, { 'content-length': Buffer.byteLength(whole) })
      response.write(whole.slice(0, -4), () => response.destroy())
    }
    answer().catch(() => response.destroy())
  }
}

/** As much as is taken, up to the whole. */
const sendsForEver: RawScript = (response) => {
  const piece = 'a'.repeat(pieceBytes)
  let left = bodyBytes
  response.write('{"jsonrpc":"2.0","id":1,"result":"')
  const more = () => {
    while (!response.destroyed) {
      if (left <= 0) return response.end('"}')
      left -= pieceBytes
      if (!response.write(piece)) return response.once('drain', more)
    }
    return undefined
  }
  more()
}

/** A gzip file may have several members. */
const packed = Buffer.concat(
  Array<Buffer>(bodyBytes / pieceBytes).fill(gzipSync(Buffer.alloc(pieceBytes, 0x20))),
)
const bomb: RawScript = (response) =>
  response.writeHead(200, { 'content-encoding': 'gzip', 'content-type': 'application/json' }).end(packed)

const drips: RawScript = (response) => {
  const drip = async () => {
    response.write('{"jsonrpc":"2.0","id":1,"result":"')
    while (!response.destroyed) {
      response.write('a')
      await sleep(200)
    }
  }
  drip().catch(() => response.destroy())
}
