import type { Client } from 'pg'
import { until } from '../support/until.ts'
import { scrape } from './hostile/scrape.ts'
import { holdSecrecy } from './hostile/under-attack.ts'
import { readinessOf } from './readiness.ts'
import type { DaemonProcess } from './world.ts'

/** Who is watched, and by whose database. */
export type Living = {
  readonly connect: () => Promise<Client>
  readonly daemons: () => readonly Pick<DaemonProcess, 'name' | 'opsUrl' | 'isRunning'>[]
}

const resumesWithinMs = 30_000
const growsWithinMs = 30_000

/**
 * I9, from the moment of the call on, which is that of the recovery: within 30 s every process is ready, each network and
 * the service are read to their end again, and what waited before is applied. @returns after how many milliseconds.
 */
export async function holdResumed(world: Living, withinMs = resumesWithinMs): Promise<number> {
  const begun = performance.now()
  const client = await world.connect()
  try {
    const { rows } = await client.query<{ now: Date }>('select clock_timestamp() as now')
    const since = rows[0]?.now
    const left = async () => [...(await notReady(world)), ...(await notResumed(client, since))]
    let last: string[] = []
    await until(
      'work resumes',
      async () => ((last = await left()).length === 0 ? true : null),
      withinMs,
    ).catch(() => {
      throw new Error(`no work ${withinMs} ms after the recovery: ${last.join('; ')}`)
    })
    return performance.now() - begun
  } finally {
    await client.end()
  }
}

async function notReady({ daemons }: Living): Promise<string[]> {
  const living = daemons().filter((daemon) => daemon.isRunning())
  const answers = await Promise.all(
    living.map(async (daemon) => ({ name: daemon.name, ready: await readinessOf(daemon) })),
  )
  return answers
    .filter(({ ready }) => ready?.status !== 200)
    .map(({ name, ready }) => `${name} is not ready: ${ready?.unready.join(', ') ?? 'it does not answer'}`)
}

async function notResumed(client: Client, since: Date | undefined): Promise<string[]> {
  const { rows } = await client.query<{ problem: string }>(
    `select name || ' was not read' as problem from (
      select 'poll' as name union select 'scan/' || network from address_book
    ) as wanted
    where not exists (select from stream where stream.name = wanted.name and succeeded_at >= $1)
    union all
    select 'observation ' || inbox_id || ' waits' from inbox_pending where stored_at < $1`,
    [since],
  )
  return rows.map(({ problem }) => problem)
}

/** I9 while something is stuck: that series of the process grows, from one look to the next and beyond. */
export async function holdGrowing(
  { opsUrl }: Pick<DaemonProcess, 'opsUrl'>,
  series: string,
  withinMs = growsWithinMs,
): Promise<void> {
  const seen: number[] = []
  const look = async () => {
    const value = (await scrape(opsUrl)).value(series)
    if (value !== null && value !== seen.at(-1)) seen.push(value)
    return seen.length >= 3 || null
  }
  await until(`${series} is told three times`, look, withinMs).catch(() => {
    throw new Error(`${series} stands still: ${seen.join(', ') || 'it is not told'}`)
  })
  const isGrowing = seen.every((value, place) => place === 0 || value > (seen[place - 1] ?? 0))
  if (!isGrowing) throw new Error(`${series} does not grow: ${seen.join(', ')}`)
}

/** Whose processes these are; of each, everything that it has printed. */
export type Printing = {
  readonly environment: Readonly<Record<string, string>>
  readonly secret: string
  readonly outputs: readonly string[]
}

/** I10: no process has printed a secret of its settings. */
export function holdNoSecrets({ environment, secret, outputs }: Printing): void {
  for (const output of outputs) holdSecrecy({ environment, secret }, output)
}
