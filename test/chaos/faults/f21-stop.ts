import type { Socket } from 'node:net'
import { until } from '../../support/until.ts'
import type { Fault } from '../fault.ts'
import { type AnotherDaemon, holdEnd, startDaemon } from '../hostile/another-daemon.ts'
import { countStored } from '../hostile/genuine-traffic.ts'
import { openSocket, requestHead, statusesIn, untilClosed } from '../hostile/raw-http.ts'
import { intakeAt, transfersPath } from '../hostile/target.ts'
import { signTest } from '../hostile/webhook-sender.ts'
import { mustBeSame } from '../until-same.ts'
import type { ChaosWorld } from '../world.ts'

/** Each with several requests behind one another: there are more under way than there can be connections. */
const connections = 2500
const requestsEach = 4
const clients = 8

type Asked = { ids: readonly string[]; statuses: Promise<readonly number[]> }

/** All of them wait for the same commit as the process is asked to end. */
export const stopped: Fault = {
  name: 'F21',
  title: 'SIGTERM with 10,000 requests under way',
  ground: 'shared',
  async strike(world) {
    await using daemon = await startDaemon(world, {})
    const locker = await world.connect()
    try {
      await locker.query('begin')
      await locker.query('lock table inbox in share mode')
      const asked = await askAll(world, daemon)
      await untilWaiting(locker)
      daemon.signal('SIGTERM')
      await until('it says that it stops', () => /"event":"daemon_stopping"/.test(daemon.output()) || null)
      await locker.query('rollback')
      await holdStopped(world, daemon, asked)
    } finally {
      await locker.end()
    }
  },
}

async function askAll({ intake }: ChaosWorld, daemon: AnotherDaemon): Promise<Asked[]> {
  const { from } = intakeAt(daemon, daemon.url)
  const run = `stopped-${process.pid}-${Date.now()}`
  return Promise.all(
    Array.from({ length: connections }, async (_, place) => {
      const signed = Array.from({ length: requestsEach }, (_each, which) =>
        signTest({ secret: intake.secret }, `${run}-${place}-${which}`),
      )
      const socket = await openSocket(from(`127.0.0.${20 + (place % clients)}`))
      socket.write(signed.map(asBytes).join(''))
      return { ids: signed.map(({ id }) => id), statuses: statusesOf(socket) }
    }),
  )
}

function asBytes({ headers, body }: ReturnType<typeof signTest>): string {
  const own = Object.entries(headers).map(([name, value]) => [name, String(value)] as const)
  const length = ['content-length', String(Buffer.byteLength(String(body)))] as const
  return requestHead(transfersPath, [...own, length]) + String(body)
}

/** In the order of the requests; fewer where the connection ended before. */
async function statusesOf(socket: Socket): Promise<readonly number[]> {
  let said = ''
  socket.on('data', (piece: Buffer) => {
    said += piece.toString('latin1')
    if (statusesIn(said).length === requestsEach) socket.end()
  })
  await untilClosed(socket)
  return statusesIn(said)
}

/** A statement of the process stands before the lock. */
async function untilWaiting(locker: { query: (text: string) => Promise<{ rowCount: number | null }> }) {
  await until('a commit waits', async () => {
    const { rowCount } = await locker.query(
      `select from pg_locks where relation = 'inbox'::regclass and not granted`,
    )
    return rowCount === 0 ? null : true
  })
}

async function holdStopped(world: ChaosWorld, daemon: AnotherDaemon, asked: readonly Asked[]): Promise<void> {
  await holdEnd('the exit status after SIGTERM', daemon, 0)
  const answers = await answersTo(asked)
  const odd = answers.filter(({ status }) => status !== null && status !== 202 && status !== 503)
  mustBeSame('answers that are neither 202 nor 503', odd, [])
  const taken = answers.filter(({ status }) => status === 202).map(({ id }) => id)
  if (taken.length === 0) throw new Error('nothing that was under way was answered 202')
  const stored = await countStored(world, taken)
  mustBeSame('rows of what was answered 202', stored.length, taken.length)
  const refused = answers.filter(({ status }) => status === 503).length
  const all = await countStored(
    world,
    answers.map(({ id }) => id),
  )
  world.say(`of ${answers.length}, ${taken.length} answered 202, ${refused} 503; ${all.length} stored`)
}

/** The status is null where the connection ended without an answer. */
async function answersTo(asked: readonly Asked[]): Promise<{ id: string; status: number | null }[]> {
  const each = await Promise.all(
    asked.map(async ({ ids, statuses }) => {
      const known = await statuses
      return ids.map((id, place) => ({ id, status: known[place] ?? null }))
    }),
  )
  return each.flat()
}
