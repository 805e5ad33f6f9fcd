import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Client } from 'pg'
import { runCommand } from '../../support/command.ts'
import { openEventReceiver } from '../../support/event-receiver.ts'
import { until } from '../../support/until.ts'
import { startTcpProxy, type TcpProxy } from '../tcp-proxy.ts'
import type { PaidDeposit } from '../world.ts'
import { type ConsumerProcess, startConsumer } from './consumer-process.ts'
import { wrongCredits } from './credits.ts'
import { type Arrival, faultyDeliveries, type NumberedEvent } from './deliveries.ts'

/** The company's own systems: one is sent events, and the other reads them from the API. */
export type EventReaders = {
  readonly receiver: {
    readonly proxy: TcpProxy
    /** Every request, in the order in which they came. */
    readonly arrivals: readonly Arrival[]
    /** What it answers from now on; 204 by default. */
    answerWith: (status: () => number) => void
  }
  readonly consumer: ConsumerProcess
  /** Runs `events endpoint` as the administrator, with the name of the receiver's. */
  command: (act: string, ...options: readonly string[]) => Promise<void>
  /** Everything as usual. */
  recover: () => void
  /** @throws where events are missing, changed or out of order, or credits are others than what these payments make them. */
  hold: (paid: readonly Pick<PaidDeposit, 'tx'>[]) => Promise<void>
}

export type ReadersSettings = {
  /** Of the daemons, whose key the receiver's secret is encrypted with. */
  environment: Readonly<Record<string, string>>
  folder: string
  apiPort: () => number
  connect: () => Promise<Client>
}

const endpoint = 'company'
const allWithinMs = 90_000
const accept = () => 204

export async function startEventReaders(
  { environment, folder, apiPort, connect }: ReadersSettings,
  stack: AsyncDisposableStack,
): Promise<EventReaders> {
  const arrivals: Arrival[] = []
  let answer = accept
  const server = stack.use(
    await openEventReceiver(({ headers, body }) => {
      const status = answer()
      arrivals.push({ headers, body, at: new Date(), isAccepted: status === 204 })
      return status
    }),
  )
  const proxy = stack.use(await startTcpProxy({ url: server.url }))
  const run = async (words: readonly string[]) => {
    const { status, out, err } = await runCommand(words, { ...environment })
    if (status !== 0) throw new Error(`${words.join(' ')}: ${err}`)
    return out.trim()
  }
  const command = async (act: string, ...options: readonly string[]) =>
    run(['events', 'endpoint', act, endpoint, ...options])
  const secret = await command('create', '--url', proxy.url)
  const token = await run(['api', 'token', 'create', endpoint, '--scopes', 'read_deposits'])
  const api = stack.use(await startTcpProxy({ url: 'http://127.0.0.1:0', port: apiPort }))
  const own = join(folder, endpoint)
  await mkdir(own)
  const consumer = startConsumer(own, { url: api.url, token })
  stack.defer(() => consumer.kill())
  const after = await inDatabase(connect, createdAfter)
  return {
    receiver: { proxy, arrivals, answerWith: (status) => (answer = status) },
    consumer,
    command: async (...words) => void (await command(...words)),
    recover() {
      answer = accept
      proxy.heal()
      consumer.start()
    },
    hold: (paid) =>
      inDatabase(connect, async (client) => {
        const { rows } = await client.query<NumberedEvent>(numberedAfter, [after])
        const isThere = () => consumer.credits().after >= after + rows.length
        const areAll = () => (isThere() && haveArrived(rows, arrivals)) || null
        // What is missing is told below.
        await until('every event arrives', areAll, allWithinMs).catch(() => undefined)
        consumer.start()
        const { after: read, entries } = consumer.credits()
        const unread = isThere() ? [] : [`the consumer has read up to ${read} of ${after + rows.length}`]
        const found = [
          ...unread,
          ...faultyDeliveries(rows, arrivals, { after, secret }),
          ...(await wrongCredits(client, entries, paid)),
        ]
        if (found.length > 0) throw new Error(found.map((line) => `events: NOT SO: ${line}`).join('\n'))
      }),
  }
}

function haveArrived(numbered: readonly NumberedEvent[], arrivals: readonly Arrival[]): boolean {
  const accepted = arrivals.filter(({ isAccepted }) => isAccepted)
  const ids = new Set(accepted.map(({ headers }) => headers['webhook-id']))
  return numbered.every(({ id }) => ids.has(id))
}

async function inDatabase<Result>(
  connect: ReadersSettings['connect'],
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const client = await connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

async function createdAfter(client: Client): Promise<number> {
  const { rows } = await client.query<{ position: string }>('select position from event_endpoint')
  return Number(rows[0]?.position)
}

const numberedAfter = `
  select sequence::text as sequence, id::text as id, type, deposit_id::text as deposit, previous::text as previous, data
  from event where event.sequence > $1 order by event.sequence`
