import { setTimeout as sleep } from 'node:timers/promises'
import type { LoopDelays } from '../loop-delays.ts'
import { besideGenuineTraffic } from './genuine-traffic.ts'
import { type Scrape, scrape } from './scrape.ts'
import type { IntakeProcess, Target } from './target.ts'

/** Stands in whatever an attacker sends beside its bodies: nobody's log may repeat it. */
export const attackerWord = 'said-by-an-attacker-4711'

/** An attack on the process that takes webhooks; its own addresses are 127.0.0.2 to 127.0.0.199. */
export type Attack = (intake: IntakeProcess) => Promise<void>

const delayMaxMs = 100
/** Of the longest: what a collector of garbage takes at once, and no request may. */
const longestMaxMs = 300
/** The event loop is looked at every 10 ms: a hundredth of the looks is more than the longest one. */
const watchedMinMs = 3000
/** Bodies that are still arriving may take 64 MiB, and what waits for the quarantine 32 MiB; the rest is what a collector leaves for later. */
const growthMaxBytes = 192 * 1024 * 1024
/** As docs/webhooks.md has it. */
const quarantineRowsMax = 10_000
const quarantineBytesMax = 64_000_000

/**
 * Attacks while genuine webhooks go on, and holds what I10 says: they are answered, the process lives, its event loop is
 * not held up, memory is flat, what is kept of the attack is bounded, and no secret is told.
 */
export async function underAttack(target: Target, attack: Attack): Promise<void> {
  const { intake } = target
  const before = await scrape(intake.opsUrl)
  const loopSeen = await intake.watchLoop()
  const genuine = await besideGenuineTraffic(target, async () => {
    await Promise.all([attack(intake), sleep(watchedMinMs)])
  })
  const delays = await loopSeen()
  const after = await scrape(intake.opsUrl)
  holdLoopDelays(delays)
  holdMemory(before, after)
  await holdQuarantine(target)
  holdSecrecy(target, intake.output())
  target.say(
    `${genuine} genuine webhooks were taken meanwhile; the event loop was held up for ${delays.maxMs} ms at the most, p99 ${delays.p99Ms} ms`,
  )
}

function holdLoopDelays({ maxMs, p99Ms, looks }: LoopDelays): void {
  if (p99Ms >= delayMaxMs || maxMs >= longestMaxMs)
    throw new Error(`the event loop was held up for ${maxMs} ms (p99 ${p99Ms} ms of ${looks} looks)`)
}

function holdMemory(before: Scrape, after: Scrape): void {
  const name = 'process_resident_memory_bytes'
  const grown = (after.value(name) ?? Number.NaN) - (before.value(name) ?? Number.NaN)
  if (!(grown < growthMaxBytes)) throw new Error(`the process grew by ${Math.round(grown / 1_048_576)} MiB`)
}

async function holdQuarantine({ connect }: Target): Promise<void> {
  const client = await connect()
  try {
    const { rows } = await client.query<{ rows: number; bytes: number }>(
      `select count(*)::int as rows, coalesce(sum(length(body) + length(headers::text)), 0)::float8 as bytes from quarantine`,
    )
    const [kept = { rows: 0, bytes: 0 }] = rows
    if (kept.rows > quarantineRowsMax || kept.bytes > quarantineBytesMax * 1.1)
      throw new Error(`the quarantine holds ${kept.rows} deliveries of ${kept.bytes} bytes`)
  } finally {
    await client.end()
  }
}

/** No secret of the settings is in what a process printed, and nothing that an attacker said. */
export function holdSecrecy(
  { environment, secret }: Pick<Target, 'environment' | 'secret'>,
  output: string,
): void {
  const passwords = ['DATABASE_URL', 'QUEUE_URL'].map((name) => URL.parse(environment[name] ?? '')?.password)
  const secrets = [secret, secret.replace(/^whsec_/, ''), environment.SERVICE_API_KEY, ...passwords]
  const reported = secrets.filter((one) => one !== undefined && one.length >= 6 && output.includes(one))
  if (reported.length > 0) throw new Error(`${reported.length} secrets are in what the process printed`)
  if (output.includes(attackerWord)) throw new Error('the process printed what an attacker said')
}
