import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { Client } from 'pg'
import { olderProgram } from '../../support/older-program.ts'
import type { Fault } from '../fault.ts'
import { type AnotherDaemon, holdEnd, spawnDaemon, startDaemon } from '../hostile/another-daemon.ts'
import { besideGenuineTraffic } from '../hostile/genuine-traffic.ts'
import { intakeAt, type Target } from '../hostile/target.ts'
import type { ChaosWorld } from '../world.ts'

type Ground = { connect: () => Promise<Client>; environment: Record<string, string> }

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
  return { connect, environment: { DATABASE_URL: url.href, QUEUE_URL: url.href } }
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
    const older = await olderProgram(join(world.folder, `older-${randomBytes(6).toString('hex')}`))
    if (older === null) throw new Error('the history does not reach back to an older version')
    const ground = await emptyGround(world, stack)
    const { environment } = ground
    const before = stack.use(await startDaemon(world, { main: older.main, environment }))
    const schema = await newestOf(ground)
    const started: AnotherDaemon[] = []
    await besideGenuineTraffic(targetAt(world, ground, before), async () => {
      started.push(stack.use(await startDaemon(world, { environment })))
    })
    const [after = before] = started
    if ((await newestOf(ground)) <= schema) throw new Error(`nothing was migrated beyond ${schema}`)
    // Both take webhooks now, into one inbox, until the older one is ended.
    await besideGenuineTraffic(targetAt(world, ground, before), () => Promise.resolve())
    await besideGenuineTraffic(targetAt(world, ground, after), async () => {
      before.signal('SIGTERM')
      await holdEnd('the exit status of the older one', before, 0)
    })
  },
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
    await holdEnd('the exit status where something was taken away', refused, 1)
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
