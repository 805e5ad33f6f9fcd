import { Client, DatabaseError } from 'pg'
import { until } from '../../support/until.ts'
import { running, withRole } from '../daemons.ts'
import type { Fault } from '../fault.ts'
import {
  type Answered,
  holdAccepted,
  holdAnswered,
  holdAnswers,
  keepSending,
  type Sender,
  untilTaken,
} from '../own-webhooks.ts'
import { countBackends, endBackends, lockInbox } from '../postgres-acts.ts'
import { untilReady, untilUnready } from '../readiness.ts'
import type { ChaosWorld } from '../world.ts'

/** Refusals that are waited for, so that more than one moment was seen. */
const refusedMin = 5

const isRefused = ({ status }: Answered) => status === 503

function untilRefused(sender: Sender, min = refusedMin): Promise<unknown> {
  const before = sender.answered.filter(isRefused).length
  return until('webhooks are answered 503', () =>
    sender.answered.filter(isRefused).length >= before + min ? true : null,
  )
}

type Outage = {
  title: string
  /** @param stack is given what ends it. */
  begin: (world: ChaosWorld, stack: AsyncDisposableStack) => Promise<void>
}

/** Through all of it webhooks come: answered 503 with a time to come back, or 202 and then stored, and nothing else. */
function outage({ title, begin }: Outage): Fault {
  return {
    name: 'F4',
    title,
    ground: 'shared',
    async strike(world, random) {
      await using sender = keepSending(world, `f4_${random.between(0, 999_999_999)}`, { beside: 3 })
      await world.pay(random.between(1, 2))
      await using ending = new AsyncDisposableStack()
      await begin(world, ending)
      await untilRefused(sender)
      await untilUnready(running(world), 'database')
      // What still came through at the beginning does not any more.
      const from = sender.answered.length
      await untilRefused(sender)
      const during = sender.answered.slice(from)
      await ending.disposeAsync()
      await untilTaken(sender)
      await world.pay(1)
      await untilReady(withRole(world, 'http'))
      const answered = await sender.stop()
      holdAnswers(answered)
      holdAnswered(answered)
      await holdAccepted(world, answered)
      const taken = during.filter(({ status }) => status === 202).length
      if (taken > 0) throw new Error(`${taken} webhooks were answered 202 while nothing could be stored`)
      const refused = answered.filter(isRefused).length
      world.say(`${refused} of ${answered.length} webhooks were answered 503`)
    },
  }
}

async function killServer({ postgres }: ChaosWorld, stack: AsyncDisposableStack): Promise<void> {
  stack.defer(() => postgres.start())
  await postgres.kill()
}

/** New sessions cannot write, and the old ones are ended. */
async function makeReadOnly(world: ChaosWorld, stack: AsyncDisposableStack): Promise<void> {
  const name = new URL(world.databaseUrl).pathname.slice(1)
  const set = async (value: string) => {
    const client = await world.connect()
    try {
      await client.query('set default_transaction_read_only = off')
      await client.query(`alter database "${name}" set default_transaction_read_only = ${value}`)
      await endBackends(client)
    } finally {
      await client.end()
    }
  }
  stack.defer(() => set('off'))
  await set('on')
}

/** Every connection that the server has is somebody else's, as where another program leaks them. */
async function takeConnections(world: ChaosWorld, stack: AsyncDisposableStack): Promise<void> {
  const watcher = await world.connect()
  stack.defer(() => watcher.end())
  const take = async () => {
    const client = new Client({ connectionString: world.databaseUrl, application_name: 'leaking' })
    client.on('error', () => undefined)
    await client.connect()
    stack.defer(() => client.end())
  }
  // Kept out for as long as it takes: else they would have every second one that becomes free.
  world.postgres.proxy.cut()
  await until('no connection is left for the daemons', async () => {
    const isTaken = await take().then(
      () => true,
      () => false,
    )
    return isTaken || (await countBackends(watcher)) > 0 ? null : true
  })
  world.postgres.proxy.heal()
}

/** Whatever the daemons' pools ask waits, until all their connections are taken. */
async function lockTables(world: ChaosWorld, stack: AsyncDisposableStack): Promise<void> {
  const locker = await world.connect()
  stack.defer(() => locker.end())
  const { rows } = await locker.query<{ tables: string }>(
    `select string_agg(format('%I', relname), ', ') as tables from pg_class
     where relnamespace = 'public'::regnamespace and relkind = 'r' and not relispartition`,
  )
  await until('all tables are locked', () => lockAll(locker, rows[0]?.tables ?? ''))
}

/** @returns null where Postgres chose this session to end a deadlock with one of the daemon's. */
async function lockAll(locker: Client, tables: string): Promise<true | null> {
  await locker.query('begin')
  try {
    await locker.query(`lock table ${tables} in access exclusive mode`)
    return true
  } catch (error) {
    if (!(error instanceof DatabaseError && error.code === deadlockDetected)) throw error
    await locker.query('rollback')
    return null
  }
}

const deadlockDetected = '40P01'

const backendsEnded: Fault = {
  name: 'F4',
  title: 'the connections to Postgres are ended again and again',
  ground: 'shared',
  async strike(world, random) {
    await using sender = keepSending(world, `f4_${random.between(0, 999_999_999)}`, { beside: 3 })
    const paying = world.pay(random.between(2, 4))
    const client = await world.connect()
    const rounds = random.between(10, 30)
    let ended = 0
    try {
      for (let round = 0; round < rounds; round++) {
        const from = sender.answered.length
        ended += await endBackends(client)
        // Some webhooks between two blows, so that each hits connections that work.
        await until('webhooks are answered', () => (sender.answered.length >= from + 3 ? true : null))
      }
    } finally {
      await client.end()
    }
    await endUnderWay(world, sender)
    await paying
    await untilTaken(sender)
    const answered = await sender.stop()
    holdAnswers(answered)
    holdAnswered(answered)
    await holdAccepted(world, answered)
    if (ended < rounds) throw new Error(`only ${ended} connections were ended in ${rounds} rounds`)
    world.say(
      `${ended} connections ended in ${rounds} rounds, ${answered.filter(isRefused).length} times 503`,
    )
  },
}

/** The others may all have hit connections that were idle: this one hits a commit. */
async function endUnderWay(world: ChaosWorld, sender: Sender): Promise<void> {
  await using lock = await lockInbox(world)
  await lock.untilWaiting()
  const refused = untilRefused(sender, 1)
  await lock.endWaiting()
  await lock.release()
  await refused
}

const outages: readonly Outage[] = [
  { title: 'Postgres is killed and started again', begin: killServer },
  { title: 'Postgres is read-only for a while', begin: makeReadOnly },
  { title: 'Postgres has no connection left', begin: takeConnections },
  { title: 'every table is locked by somebody', begin: lockTables },
]

export const postgresLost: readonly Fault[] = [...outages.map(outage), backendsEnded]
