import type { Settings } from '../config/settings.ts'
import type { Role } from '../health.ts'
import { eventTimeoutMs } from '../jobs/events/event-request.ts'
import { openEventSender } from '../jobs/events/send-events.ts'
import type { Observer } from '../ops/observe.ts'
import { openPoster } from '../outbox/post-webhook.ts'
import { openSecretVault, type SecretVault } from '../outbox/secret-vault.ts'
import { openDatabase } from '../store/database.ts'
import { endpointVaultPurpose } from '../store/event-endpoints.ts'
import { readClock } from '../store/streams.ts'
import type { Tables } from '../store/tables.ts'

const leaseMs = 15_000
/** Slow endpoints take no connections from other jobs. */
const poolMax = 4
/** Finds retries, and what another process numbered or left. */
const lookEveryMs = 1000

export function eventsVault({ eventsKey }: Pick<Settings, 'eventsKey'>): SecretVault | null {
  return eventsKey && openSecretVault(eventsKey, endpointVaultPurpose)
}

type EventsDeps = { holder: string; observer: Observer; roles: readonly Role[] }

type ComposedEvents = AsyncDisposable & { deliver: () => void }

const sendsNothing = { deliver: () => undefined, [Symbol.asyncDispose]: () => Promise.resolve() }

/** Workers send. */
export async function composeEvents(
  settings: Pick<Settings, 'databaseUrl' | 'eventsKey' | 'events'>,
  { holder, observer, roles }: EventsDeps,
): Promise<ComposedEvents> {
  if (!roles.includes('worker')) return sendsNothing
  const { databaseUrl: url, events } = settings
  const access = { url, poolMax, applicationName: 'depositd events', role: 'depositd_daemon' }
  const db = openDatabase<Tables>(access)
  const poster = openPoster({ ...events, timeoutMs: eventTimeoutMs })
  const vault = eventsVault(settings)
  const now = await readClock(db)
  const parts = { db, holder, leaseMs, attemptMs: eventTimeoutMs, vault, poster, now }
  const deps = { ...parts, random: Math.random, observe: observer.events }
  const sender = openEventSender(deps)
  const timer = setInterval(sender.wake, lookEveryMs)
  return {
    deliver: sender.wake,
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await sender.stop()
      poster.close()
      await db.destroy()
    },
  }
}
