import { wouldShowSecret } from '../config/canary.ts'
import { type Settings, webhookSecretsSetting } from '../config/settings.ts'
import { divertCanaries, type Write } from '../intake/divert-canaries.ts'
import type { InboxWriter } from '../intake/inbox-writer.ts'
import { signDelivery } from '../intake/signature/sign-delivery.ts'
import { sendCanary } from '../jobs/canary.ts'
import type { Queue } from '../jobs/queue/queue.ts'
import { isDone, type Tick } from '../jobs/schedule.ts'
import { cacheRead } from '../ops/cached-read.ts'
import type { Metrics } from '../ops/metrics.ts'
import type { Observer } from '../ops/observe.ts'
import { canaryAge, receiveCanary } from '../store/canary.ts'
import type { Database } from '../store/database.ts'
import type { Tables } from '../store/tables.ts'
import type { Services } from './services.ts'

type CanaryDeps = {
  db: Database<Tables>
  queue: Queue
  observer: Observer
  metrics: Metrics
  services: Services
}

export type Canary = {
  jobs: { canary: () => Promise<void> }
  ticks: Tick[]
  /** Also updates the age of the last success. */
  beside: <Read>(read: () => Promise<Read>) => () => Promise<Read>
}

const tickExpression = '*/5 * * * * *'
/** One missed webhook may be chance. */
const missedMax = 3
/** Reading one row is cheap, and the first success should show soon. */
const ageKeptMs = 2000

/** If the settings have none, nothing is sent. */
export function composeCanary({ canary }: Settings, deps: CanaryDeps): Canary {
  // A queued wake-up may be of earlier settings.
  if (canary === null) return { jobs: { canary: () => Promise.resolve() }, ticks: [], beside: (read) => read }
  const { db, queue, observer, metrics, services } = deps
  metrics.canaryWebhookLimit.set({}, (canary.everyMs * missedMax + canary.timeoutMs) / 1000)
  const readAge = cacheRead(() => canaryAge(db), { keptMaxMs: ageKeptMs })
  return {
    jobs: {
      canary: () =>
        sendCanary({
          ...canary,
          db,
          secretsSetting: webhookSecretsSetting(canary.service),
          sign(unsigned) {
            const admission = services.open().get(canary.service)?.admission
            // The scheme may have changed since the address was accepted.
            if (admission === undefined || wouldShowSecret(admission.signing.scheme, canary.url)) return null
            return signDelivery({ settings: admission.signing, secrets: admission.secrets }, unsigned)
          },
          now: () => new Date(),
          observe: observer.canary,
        }),
    },
    ticks: [
      {
        name: 'canary',
        expression: tickExpression,
        run: () => isDone(queue.wake('canary'), (error) => observer.jobFailed('canary', error)),
      },
    ],
    beside: (read) => async () => {
      // An age that cannot be read is left out; the database has its own alerts.
      const [gauges, age] = await Promise.all([read(), readAge().catch(() => null)])
      if (age === null || age.value === null) metrics.canaryWebhookAge.clear()
      else metrics.canaryWebhookAge.set({}, age.value + age.ageSeconds)
      return gauges
    },
  }
}

/** Without a canary in the settings, every webhook is stored. */
export function composeWrite({ canary }: Settings, db: Database<Tables>, write: InboxWriter['write']): Write {
  return canary === null ? write : divertCanaries(write, (token) => receiveCanary(db, token))
}
