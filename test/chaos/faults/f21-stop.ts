import type { Socket } from 'node:net'
import { until } from '../../support/until.ts'
import type { Fault } from '../fault.ts'
import { type AnotherDaemon, startDaemon } from '../hostile/another-daemon.ts'
import { countStored } from '../hostile/genuine-traffic.ts'
import { openSocket, requestHead, statusesIn, untilClosed } from '../hostile/raw-http.ts'
import { intakeAt, transfersPath } from '../hostile/target.ts'
import { signTest } from '../hostile/webhook-sender.ts'
import { mustBeSame } from '../until-same.ts'
import type { ChaosWorld } from '../world.ts'

/** All connections there can be, but a few. */
const requestsOf = 4000
const clients = 8
const endWithinMs = 60_000

type Asked = { id: string; answer: Promise<number | null> }

/** All of them wait for the same commit as the process is asked to end. */
export const stopped: Fault = {
  name: 'F21',
  title: 'SIGTERM with thousands of requests under way',
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
    Array.from({ length: requestsOf }, async (_, place) => {
      const { id, headers, body } = signTest({ secret: intake.secret }, `${run}-${place}`)
      const socket = await openSocket(from(`127.0.0.${20 + (place % clients)}`))
      const own = Object.entries(headers).map(([name, value]) => [name, String(value)] as const)
      const length = ['content-length', String(Buffer.byteLength(String(body)))] as const
      socket.write(requestHead(transfersPath, [...own, length]) + String(body))
      return { id, answer: answerOf(socket) }
    }),
  )
}

/** Null where the connection ended without one. */
async function answerOf(socket: Socket): Promise<number | null> {
  let said = ''
  socket.on('data', (piece: Buffer) => {
    said += piece.toString('latin1')
    socket.end()
  })
  await untilClosed(socket)
  return statusesIn(said)[0] ?? null
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
  const late = Promise.withResolvers<'it still runs'>()
  const timer = setTimeout(() => late.resolve('it still runs'), endWithinMs)
  mustBeSame('the exit status after SIGTERM', await Promise.race([daemon.ended, late.promise]), 0)
  clearTimeout(timer)
  const answers = await Promise.all(asked.map(async ({ id, answer }) => ({ id, status: await answer })))
  const odd = answers.filter(({ status }) => status !== null && status !== 202 && status !== 503)
  mustBeSame('answers that are neither 202 nor 503', odd, [])
  const taken = answers.filter(({ status }) => status === 202).map(({ id }) => id)
  if (taken.length === 0) throw new Error('nothing that was under way was answered 202')
  const stored = await countStored(world, taken)
  mustBeSame('rows of what was answered 202', stored.length, taken.length)
  const refused = answers.filter(({ status }) => status === 503).length
  world.say(
    `${taken.length} were answered 202, ${refused} 503, ${answers.length - taken.length - refused} not at all`,
  )
}
