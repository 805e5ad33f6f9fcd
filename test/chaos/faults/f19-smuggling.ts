import { text } from 'node:stream/consumers'
import { finished } from 'node:stream/promises'
import type { Fault } from '../fault.ts'
import { countStored } from '../hostile/genuine-traffic.ts'
import { exchange, openSocket, requestHead, statusesIn } from '../hostile/raw-http.ts'
import { type Target, targetOf, transfersPath } from '../hostile/target.ts'
import { attackerWord, underAttack } from '../hostile/under-attack.ts'
import { signTest, type Webhook } from '../hostile/webhook-sender.ts'
import { mustBeSame } from '../until-same.ts'

const attacker = '127.0.0.5'
const pipelinedOf = 1000

/** A whole request as it is written, with headers beside those of the webhook. */
function written({ headers, body }: Webhook, more: readonly (readonly [string, string])[]): string {
  const own = Object.entries(headers).map(([name, value]) => [name, String(value)] as const)
  return requestHead(transfersPath, [...own, ...more]) + String(body)
}

type Wrong = { bytes: string; status: number }

const head = (...headers: readonly (readonly [string, string])[]) => requestHead(transfersPath, headers)
const wrong = (bytes: string, status = 400): Wrong => ({ bytes, status })

/** What must be refused, each as one or several requests in one stream of bytes. */
function malformed(inner: string): Record<string, Wrong> {
  const [plain, chunked] = [['content-length', '4'] as const, ['transfer-encoding', 'chunked'] as const]
  return {
    'a length and chunks': wrong(`${head(plain, chunked)}0\r\n\r\n${inner}`),
    'chunks and a length': wrong(`${head(chunked, plain)}0\r\n\r\n${inner}`),
    'two lengths': wrong(`${head(plain, ['content-length', '9'])}0\r\n\r\n${inner}`),
    'a length of a list': wrong(`${head(['content-length', '4, 9'])}0\r\n\r\n${inner}`),
    'a length with a sign': wrong(`${head(['content-length', '+4'])}0\r\n\r\n${inner}`),
    'a length below zero': wrong(`${head(['content-length', '-1'])}${inner}`),
    'a length beyond all numbers': wrong(`${head(['content-length', '9'.repeat(30)])}${inner}`),
    'chunks twice': wrong(`${head(chunked, ['transfer-encoding', 'identity'])}0\r\n\r\n${inner}`),
    'chunks by another name': wrong(`${head(['transfer-encoding', 'xchunked'])}0\r\n\r\n${inner}`),
    'chunks behind a tab': wrong(`${head(['transfer-encoding', '\x0bchunked'])}0\r\n\r\n${inner}`),
    'a space before the colon': wrong(`${head(['content-length ', '4'])}0\r\n\r\n${inner}`),
    'a folded header': wrong(
      `${head(['x-a', `b\r\n content-length: ${inner.length}`], plain)}{}\r\n${inner}`,
    ),
    'a chunk of a wrong size': wrong(`${head(chunked)}zz\r\n${inner}`),
    'a line feed alone': wrong(
      `POST ${transfersPath} HTTP/1.1\nhost: x\ncontent-length: 4\n\n0\r\n\r${inner}`,
    ),
    'no host': wrong(`POST ${transfersPath} HTTP/1.1\r\n\r\n`),
    '17 KB of headers': wrong(head(['connection', 'close'], ['x-long', attackerWord.repeat(800)]), 431),
    'three thousand headers': wrong(
      head(...Array.from({ length: 3000 }, (_, place) => [`x-${place}`, 'y'] as const)),
      431,
    ),
    'no HTTP at all': wrong('\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'),
  }
}

const smuggled: Fault = {
  name: 'F19',
  title: 'requests within requests, lengths that contradict each other, headers of 17 KB',
  ground: 'shared',
  async strike(world) {
    const target = targetOf(world)
    await underAttack(target, async ({ from }) => {
      const id = `smuggled-${process.pid}-${Date.now()}`
      const inner = signTest({ secret: target.secret }, id)
      const whole = written(inner, [['content-length', String(Buffer.byteLength(String(inner.body)))]])
      for (const [what, { bytes, status }] of Object.entries(malformed(whole))) {
        const said = await exchange(from(attacker), bytes)
        mustBeSame(`the answers to ${what}`, statusesIn(said), [status])
        // Whoever stands before us may have seen another request there: it may not have been believed.
        mustBeSame(`what was hidden behind ${what}`, await countStored(target, [id]), [])
      }
    })
  },
}

const pipelined: Fault = {
  name: 'F19',
  title: 'a thousand requests at once on one connection, every other one forged',
  ground: 'shared',
  async strike(world) {
    const target = targetOf(world)
    await underAttack(target, () => holdPipeline(target))
  },
}

async function holdPipeline(target: Target): Promise<void> {
  const { secret, intake } = target
  const run = `pipelined-${process.pid}-${Date.now()}`
  const right = Array.from({ length: pipelinedOf }, (_, place) => signTest({ secret }, `${run}-${place}`))
  const requests = right.map((webhook, place) => {
    const forged = { ...webhook.headers, 'webhook-signature': 'v1,forged' }
    const headers = place % 2 === 0 ? webhook.headers : forged
    const isLast = place === pipelinedOf - 1
    return written({ ...webhook, headers }, [
      ['content-length', String(Buffer.byteLength(String(webhook.body)))],
      ['connection', isLast ? 'close' : 'keep-alive'],
    ])
  })
  const socket = await openSocket(intake.from(attacker))
  const said = text(socket)
  socket.write(requests.join(''))
  const statuses = statusesIn(await said)
  await finished(socket, { writable: false }).catch(() => undefined)
  mustBeSame(
    'the answers, in their order',
    statuses,
    right.map((_, place) => (place % 2 === 0 ? 202 : 401)),
  )
  const ids = right.map(({ id }) => id)
  const stored = (await countStored(target, ids)).map(({ id }) => id)
  mustBeSame('what was stored', stored.toSorted(), ids.filter((_, place) => place % 2 === 0).toSorted())
}

export const smuggling: Fault[] = [smuggled, pipelined]
