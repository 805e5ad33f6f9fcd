import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeSecret } from '../../support/sign-webhook.ts'
import { until } from '../../support/until.ts'
import type { Fault } from '../fault.ts'
import { type AnotherDaemon, holdEnd, spawnDaemon, startDaemon } from '../hostile/another-daemon.ts'
import { besideGenuineTraffic } from '../hostile/genuine-traffic.ts'
import { intakeAt, type Target } from '../hostile/target.ts'
import { holdSecrecy } from '../hostile/under-attack.ts'
import { send, signTest } from '../hostile/webhook-sender.ts'
import { mustBeSame } from '../until-same.ts'
import type { ChaosWorld } from '../world.ts'

const rotated: Fault = {
  name: 'F17',
  title: 'secrets old, new and revoked, by file and SIGHUP',
  ground: 'shared',
  async strike(world) {
    await using stack = new AsyncDisposableStack()
    const folder = await mkdtemp(join(world.folder, 'secrets-'))
    stack.defer(() => rm(folder, { recursive: true }))
    const file = join(folder, 'webhook-secrets')
    const [first, second] = [makeSecret(), makeSecret()]
    await writeFile(file, `${first}\n`)
    const environment = { WEBHOOK_SECRETS: null, WEBHOOK_SECRETS_FILE: file }
    const daemon = stack.use(await startDaemon(world, { environment }))
    const answers = asking(daemon)
    mustBeSame('before', await answers(first, second), [202, 401])

    const follow = async (text: string, event: string) => {
      await writeFile(file, text)
      await untilReported(daemon, event)
    }
    await besideGenuineTraffic(targetAt(world, daemon, first), () =>
      follow(`${first}\n${second}\n`, '"change":"changed"'),
    )
    mustBeSame('both count', await answers(first, second), [202, 202])
    await besideGenuineTraffic(targetAt(world, daemon, second), () =>
      follow(`${second}\n`, '"change":"changed"'),
    )
    mustBeSame('the old one is revoked', await answers(first, second), [401, 202])
    for (const useless of ['\n', 'whsec_\n', `${second} not-after=2020-01-01T00:00:00Z\n`]) {
      await follow(useless, '"event":"settings_refused"')
      mustBeSame('secrets that cannot be used change nothing', await answers(first, second), [401, 202])
    }
    for (const secret of [first, second]) holdSecrecy(targetAt(world, daemon, secret), daemon.output())
  },
}

/** Sends a webhook by each secret, and returns how they were answered. */
function asking({ url }: AnotherDaemon) {
  let count = 0
  return (...secrets: readonly string[]): Promise<number[]> =>
    Promise.all(
      secrets.map(async (secret) => {
        const id = `rotated-${process.pid}-${Date.now()}-${count++}`
        return (await send({ url }, signTest({ secret }, id))).status
      }),
    )
}

/** Asks the process to read its settings, and waits for what it tells of that. */
async function untilReported(daemon: AnotherDaemon, text: string): Promise<void> {
  const report = () => daemon.output().split(text).length
  const before = report()
  daemon.signal('SIGHUP')
  await until(`the process tells ${text}`, () => (report() > before ? true : null))
}

function targetAt({ environment, connect, say }: ChaosWorld, daemon: AnotherDaemon, secret: string): Target {
  return { intake: intakeAt(daemon, daemon.url), secret, environment, connect, say }
}

const useless: Record<string, string | null> = {
  'none at all': null,
  'an empty one': '',
  'white space': '  ',
  'an empty place': ',',
  'a prefix alone': 'whsec_',
  'eight bytes': `whsec_${Buffer.from('8 bytes.').toString('base64')}`,
  'another one that has ended': `${makeSecret()} not-after=2020-01-01T00:00:00Z`,
}

const empty: Fault = {
  name: 'F17',
  title: 'started with a secret that protects nothing',
  ground: 'shared',
  async strike(world) {
    const starts = Object.entries(useless).map(async ([what, secret]) => {
      await using daemon = await spawnDaemon(world, { environment: { WEBHOOK_SECRETS: secret } })
      await holdEnd(`the exit status with ${what}`, daemon, 2)
      if (!daemon.output().includes('WEBHOOK_SECRETS'))
        throw new Error(`with ${what}, the setting is not named: ${daemon.output()}`)
    })
    await Promise.all(starts)
  },
}

export const secrets: Fault[] = [rotated, empty]
