import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { Client } from 'pg'
import { keepStanding } from '../../oracle/hold.ts'
import { newerProgram } from '../../support/newer-program.ts'
import type { Fault } from '../fault.ts'
import {
  type AnotherDaemon,
  holdEnd,
  type Starting,
  spawnDaemon,
  startDaemon,
  whileRunning,
} from '../hostile/another-daemon.ts'
import { copyOwners } from '../hostile/books-beside.ts'
import { besideGenuineTraffic } from '../hostile/genuine-traffic.ts'
import { holdBeside } from '../hostile/hold-beside.ts'
import { intakeAt, type Target } from '../hostile/target.ts'
import { eventsOf, sendReal } from '../real-webhooks.ts'
import { differencesToTwin } from '../twin.ts'
import { mustBeSame, untilSame } from '../until-same.ts'
import type { ChaosWorld, PaidDeposit } from '../world.ts'

type Ground = { databaseUrl: string; connect: () => Promise<Client>; environment: Record<string, string> }

/** A database on which nothing was migrated; its queue is in it, whatever the world's is in. */
async function emptyGround(world: ChaosWorld, stack: AsyncDisposableStack): Promise<Ground> {
  const name = `versions_${randomBytes(6).toString('hex')}`
  const owner = await world.connect()
  stack.defer(() => owner.end())
  await owner.query(`create database ${name}`)
  stack.defer(async () => {
    await owner.query(`drop database if exists ${name} with (force)`)
  })
  const url = new URL(world.environment.DATABASE_URL ?? '')
  url.pathname = `/${name}`
  const connect = async () => {
    const client = new Client({ connectionString: url.href })
    await client.connect()
    return client
  }
  const environment = { DATABASE_URL: url.href, QUEUE_URL: url.href }
  return { databaseUrl: url.href, connect, environment }
}

function targetAt(world: ChaosWorld, { connect }: Ground, daemon: AnotherDaemon): Target {
  const { intake, environment, say } = world
  return { intake: intakeAt(daemon, daemon.url), secret: intake.secret, environment, connect, say }
}

const replaced: Fault = {
  name: 'F21',
  title: 'two versions at once, and a migration under load',
  ground: 'own',
  async strike(world) {
    await using stack = new AsyncDisposableStack()
    const newer = await newerProgram(join(world.folder, `newer-${randomBytes(6).toString('hex')}`))
    const ground = await emptyGround(world, stack)
    const { environment } = ground
    const before = stack.use(await startWhole(world, { environment }))
    const schema = await newestOf(ground)
    const paid = await payKnown(world, ground)
    const started: AnotherDaemon[] = []
    await besideGenuineTraffic(targetAt(world, ground, before), async () => {
      started.push(stack.use(await startWhole(world, { environment, main: newer })))
    })
    const [after = before] = started
    if ((await newestOf(ground)) <= schema) throw new Error(`nothing was migrated beyond ${schema}`)
    // Both take webhooks now, into one inbox, until the older one is ended.
    paid.push(...(await world.pay(3)))
    await world.untilAtRest()
    await reportInTurn(world, paid, [before, after])
    await besideGenuineTraffic(targetAt(world, ground, before), () => Promise.resolve())
    await untilReconciled(ground, paid)
    await besideGenuineTraffic(targetAt(world, ground, after), async () => {
      before.signal('SIGTERM')
      await holdEnd('the exit status of the older one', before, 0)
    })
    await holdBeside(world, { ...ground, processes: [after] })
    const { straight, folder, intake } = world
    const found = await differencesToTwin({ databaseUrl: ground.databaseUrl, straight, folder, intake })
    mustBeSame('what differs from a daemon that was not replaced', found, [])
  },
}

/** All of it in one process, once it has migrated and works. */
async function startWhole(world: ChaosWorld, starting: Starting): Promise<AnotherDaemon> {
  const daemon = await startDaemon(world, { ...starting, roles: 'http,worker,scheduler', isReadyLater: true })
  await whileRunning(
    daemon,
    untilSame('it works', () => daemon.output().includes('"event":"daemon_started"'), true),
  )
  return daemon
}

/** For owners that this version knows. */
async function payKnown(world: ChaosWorld, ground: Ground): Promise<PaidDeposit[]> {
  const client = await ground.connect()
  try {
    await copyOwners(world, client)
  } finally {
    await client.end()
  }
  return [...(await world.pay(3))]
}

/** All that the service tells of these payments, one event to the one and the next to the other. */
async function reportInTurn(
  world: ChaosWorld,
  paid: readonly PaidDeposit[],
  daemons: readonly AnotherDaemon[],
): Promise<void> {
  for (const [place, event] of (await eventsOf(world, paid)).entries()) {
    const url = daemons[place % daemons.length]?.url ?? ''
    const status = await sendReal({ intake: { ...world.intake, url } }, event)
    mustBeSame(`the answer to ${event.type}`, status, 202)
  }
}

/** What stands then in the books stays. */
async function untilReconciled({ connect }: Ground, paid: readonly PaidDeposit[]): Promise<void> {
  const client = await connect()
  try {
    const left = async () => {
      const { rows } = await client.query<{ tx: string }>(
        `select tx from unnest($1::text[]) as paid (tx) where not exists (
           select from deposit where deposit.tx = paid.tx and merged_into is null and state = 'reconciled')`,
        [paid.map(({ tx }) => tx)],
      )
      return rows
    }
    await untilSame('payments that are not reconciled', left, [])
    await keepStanding(client)
  } finally {
    await client.end()
  }
}

const newerSchema: Fault = {
  name: 'F21',
  title: 'started on the schema of a newer version, which only added, and which took something away',
  ground: 'own',
  async strike(world) {
    await using stack = new AsyncDisposableStack()
    const ground = await emptyGround(world, stack)
    const { environment } = ground
    const first = await startDaemon(world, { environment })
    first.signal('SIGTERM')
    await holdEnd('the exit status', first, 0)
    await addMigration(ground, '9998_something_more')
    await using beside = await startDaemon(world, { environment })
    await besideGenuineTraffic(targetAt(world, ground, beside), () => Promise.resolve())
    await addMigration(ground, '9999_something_less_contract')
    await using refused = await spawnDaemon(world, { environment })
    await holdEnd('the exit status where something was taken away', refused, 4)
    if (!refused.output().includes('9999_something_less_contract'))
      throw new Error(`what took it away is not named: ${refused.output()}`)
  },
}

async function newestOf(ground: Ground): Promise<string> {
  const client = await ground.connect()
  try {
    const { rows } = await client.query<{ name: string }>('select max(name) as name from kysely_migration')
    return rows[0]?.name ?? ''
  } finally {
    await client.end()
  }
}

async function addMigration(ground: Ground, name: string): Promise<void> {
  const client = await ground.connect()
  try {
    await client.query('insert into kysely_migration (name, timestamp) values ($1, now()::text)', [name])
  } finally {
    await client.end()
  }
}

export const versions: Fault[] = [replaced, newerSchema]
