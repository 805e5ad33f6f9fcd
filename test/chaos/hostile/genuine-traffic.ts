import { setImmediate as breathe } from 'node:timers/promises'
import type { Target } from './target.ts'
import { type Answer, keepAlive, type Sending, send, signTest } from './webhook-sender.ts'

/** What a sender in good faith was answered, each once. */
export type Genuine = { id: string; answer: Answer }

/** An address that no attacker has. */
const senderAddress = '127.0.0.200'
const lanes = 4

let runs = 0

/**
 * Sends genuine webhooks for as long as the attack takes, one after the other in each lane: half of the lanes keep their
 * connection, the others make a new one each time.
 * @throws where one is not answered by 202, or is not in the inbox exactly once.
 */
export async function besideGenuineTraffic(target: Target, attack: () => Promise<void>): Promise<number> {
  const { url } = target.intake
  const sent: Genuine[] = []
  const run = `genuine-${process.pid}-${++runs}`
  const attacked = { isOver: false }
  const lane = async (number: number) => {
    const agent = number % 2 === 0 ? keepAlive() : undefined
    const sending: Sending = { url, localAddress: senderAddress, ...(agent !== undefined && { agent }) }
    for (let count = 0; !attacked.isOver; count++) {
      const id = `${run}-${number}-${count}`
      sent.push({ id, answer: await send(sending, signTest({ secret: target.secret }, id)) })
      await breathe()
    }
    agent?.destroy()
  }
  const traffic = Promise.all(Array.from({ length: lanes }, (_, number) => lane(number)))
  await attack().finally(() => {
    attacked.isOver = true
  })
  await traffic
  await holdAllStored(target, sent)
  return sent.length
}

async function holdAllStored(target: Target, sent: readonly Genuine[]): Promise<void> {
  if (sent.length === 0) throw new Error('no genuine webhook was sent meanwhile: the fault was over too soon')
  const refused = sent.filter(({ answer }) => answer.status !== 202)
  const [first] = refused
  if (first !== undefined) {
    const { status, code } = first.answer
    throw new Error(
      `${refused.length} of ${sent.length} genuine webhooks were not taken: ${first.id} ${status} ${code}`,
    )
  }
  const ids = sent.map(({ id }) => id)
  const stored = await countStored(target, ids)
  if (stored.length !== ids.length || stored.some(({ rows }) => rows !== 1))
    throw new Error(`of ${ids.length} webhooks that were answered 202, ${stored.length} are in the inbox`)
}

/** How often each of these stands in the inbox; what does not stand there is left out. */
export async function countStored(
  { connect }: Pick<Target, 'connect'>,
  ids: readonly string[],
): Promise<{ id: string; rows: number }[]> {
  const client = await connect()
  try {
    const { rows } = await client.query<{ id: string; rows: number }>(
      `select source_key as id, count(*)::int as rows from inbox
       where source = 'webhook' and source_key = any($1) group by source_key`,
      [ids],
    )
    return rows
  } finally {
    await client.end()
  }
}
