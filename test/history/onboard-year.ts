import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { spawnProgram } from '../support/embedded-program.ts'
import { addPeople, signingKeys } from '../support/people.ts'
import { until } from '../support/until.ts'
import type { HistoryGround } from './ground.ts'
import type { MeasuredWorld } from './world.ts'

const name = 'acme'
const payEveryMs = 400
const stepWithinMs = 600_000
/** Of a million calls. */
const price = '5'

export function webhookUrlAt(httpPort: number): string {
  return `http://127.0.0.1:${httpPort}/webhooks/${name}/transfers`
}

/** The secrets of the service, as files, and the key of the person who connects it. */
export function onboardingSettings(folder: string, { service }: HistoryGround): Record<string, string> {
  writeFileSync(join(folder, `SERVICE_API_${name.toUpperCase()}_KEY`), service.secrets.readKey)
  writeFileSync(join(folder, `WEBHOOK_SECRETS_${name.toUpperCase()}`), service.secrets.webhookSecret)
  return { SECRETS_DIR: folder, ...signingKeys.erin }
}

export type OnboardedYear = { seconds: number; estimate: string }

/** Beside the default one, which stays paused. While customers pay, the command is stopped in the middle, and continues. */
export async function onboardYear(world: MeasuredWorld, since: Date): Promise<OnboardedYear> {
  const { choices, environment, counters, say } = world
  const url = counters.get('service')?.url ?? ''
  const words = ['onboard', name, '--yes', '--url', url, '--since', since.toISOString(), '--price', price]
  await addPeople(world.db)
  const startedAt = performance.now()
  const traffic = payAll(world)
  try {
    const first = spawnProgram(choices.folder, words, environment)
    const isInMiddle = () => first.output().includes('\n4 of 7') || null
    await Promise.race([done(first), until('onboard has found the webhooks', isInMiddle, stepWithinMs)])
    await first.end('SIGKILL')
    const said = await approved(world, words)
    const [estimate = ''] = /Reading from [^]*? doctor\n/.exec(said) ?? []
    const seconds = Math.round((performance.now() - startedAt) / 1000)
    say(`onboarded after ${seconds} s\n${estimate}`)
    return { seconds, estimate }
  } finally {
    await traffic.stop()
  }
}

/** If it stops for a second person, max signs, and it runs again. */
async function approved({ choices, environment }: MeasuredWorld, words: readonly string[]): Promise<string> {
  const first = spawnProgram(choices.folder, words, environment)
  const [, id] = (await first.ended) === 0 ? [] : (/decision (\d+) waits for/.exec(first.output()) ?? [])
  if (id === undefined) return done(first)
  const asMax = { ...environment, ...signingKeys.max }
  await done(spawnProgram(choices.folder, ['decisions', 'approve', id, '--yes'], asMax))
  return first.output() + (await done(spawnProgram(choices.folder, words, environment)))
}

async function done({ ended, output }: ReturnType<typeof spawnProgram>): Promise<string> {
  const status = await ended
  if (status !== 0 && status !== null) throw new Error(output())
  return output()
}

function payAll({ ground, choices }: MeasuredWorld) {
  const over = new AbortController()
  const paying = (async () => {
    for (let place = choices.deposits; !over.signal.aborted; place++) {
      await ground.pay(place)
      await sleep(payEveryMs)
    }
  })()
  return {
    async stop() {
      over.abort()
      await paying
    },
  }
}
