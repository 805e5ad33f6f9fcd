import type { Logger } from 'pino'
import { openPoster } from '../../outbox/post-webhook.ts'
import type { SecretVault } from '../../outbox/secret-vault.ts'
import type { Faults } from '../faults/faults.ts'
import { type Loop, startLoop } from '../running/loop.ts'
import type { DepositServiceSettings } from '../settings.ts'
import type { ServiceDatabase } from '../tables.ts'
import { openCourier } from './deliver-webhooks.ts'
import { applyEndpoints } from './endpoints.ts'

type WebhookLoopDeps = {
  db: ServiceDatabase
  vault: SecretVault
  settings: DepositServiceSettings
  faults: Faults
  log: Logger
}

/** The lease of a delivery is longer than twice this. */
const timeoutMs = 15_000

export async function startWebhooks({ db, vault, settings, faults, log }: WebhookLoopDeps): Promise<Loop> {
  const { webhooks, allowPrivateWebhooks: allowPrivate, pollEveryMs: everyMs } = settings
  await applyEndpoints({ db, vault, now }, webhooks)
  const poster = openPoster({ allowPrivate, timeoutMs })
  const onRoom = () => loop.wake()
  const courier = openCourier({ db, vault, poster, faults, now, random: Math.random, onRoom, log })
  const loop = startLoop({ name: 'webhooks', everyMs, log }, async (stopping) => {
    await courier.turn(stopping)
    return false
  })
  return {
    wake: () => loop.wake(),
    stop: async () => {
      await loop.stop()
      await courier.idle()
      poster.close()
    },
  }
}

function now(): Date {
  return new Date()
}
