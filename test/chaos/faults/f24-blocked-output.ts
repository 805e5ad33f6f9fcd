import { mapBounded } from '../../../src/chain/map-bounded.ts'
import { makeSecret } from '../../support/sign-webhook.ts'
import type { Fault } from '../fault.ts'
import { type AnotherDaemon, holdEnd, startDaemon } from '../hostile/another-daemon.ts'
import { besideGenuineTraffic } from '../hostile/genuine-traffic.ts'
import { scrape } from '../hostile/scrape.ts'
import { intakeAt } from '../hostile/target.ts'
import { send, signTest } from '../hostile/webhook-sender.ts'
import { mustBeSame } from '../until-same.ts'
import type { ChaosWorld } from '../world.ts'

const lanes = 32
const webhooksOf = 6000
/** At `debug` each webhook has a line of some 200 bytes, and a pipe or socket holds a few hundred kilobytes at the most. */
const heldMaxBytes = 300_000
const growthMaxBytes = 96 * 1024 * 1024

/** What reads the log stands still and closes nothing: no line may hold up work, and what waits may not grow without end. */
export const blockedOutput: Fault = {
  name: 'F24',
  title: 'standard output that nobody reads',
  ground: 'shared',
  async strike(world) {
    const environment = { LOG_LEVEL: 'debug' }
    await using daemon = await startDaemon(world, { environment, isUnread: true })
    await besideGenuineTraffic(targetOf(world, daemon), () => fill(world, daemon))
    const before = await memoryOf(daemon)
    await fill(world, daemon)
    const grown = (await memoryOf(daemon)) - before
    if (grown > growthMaxBytes)
      throw new Error(`the process grew by ${grown} bytes while nobody read its log`)
    daemon.signal('SIGTERM')
    await holdEnd('the exit status after SIGTERM', daemon, 0)
  },
}

function targetOf({ intake, environment, connect, say }: ChaosWorld, daemon: AnotherDaemon) {
  return { intake: intakeAt(daemon, daemon.url), secret: intake.secret, environment, connect, say }
}

/** Sends what makes lines, until they are more than a pipe holds. */
async function fill({ intake }: ChaosWorld, { url, opsUrl }: AnotherDaemon): Promise<void> {
  const before = await answeredOf(opsUrl)
  const other = makeSecret()
  await mapBounded(
    Array.from({ length: webhooksOf }, (_, place) => place),
    lanes,
    async (place) => {
      const isForged = place % 4 === 0
      const id = `unread-${process.pid}-${Date.now()}-${place}`
      const { status } = await send({ url }, signTest({ secret: isForged ? other : intake.secret }, id))
      mustBeSame('the answer to a webhook', status, isForged ? 401 : 202)
    },
  )
  const lines = (await answeredOf(opsUrl)) - before
  if (lines * 150 < heldMaxBytes) throw new Error(`${lines} lines do not fill what holds them`)
}

async function answeredOf(opsUrl: string): Promise<number> {
  const reported = await scrape(opsUrl)
  return reported.value('depositd_webhook_requests_total{service="default",outcome="stored"}') ?? 0
}

async function memoryOf({ opsUrl }: AnotherDaemon): Promise<number> {
  return (await scrape(opsUrl)).value('process_resident_memory_bytes') ?? Number.NaN
}
