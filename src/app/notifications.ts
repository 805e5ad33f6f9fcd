import { sharedLinks } from '../config/environment-settings.ts'
import { redactorOf } from '../config/secrets-of.ts'
import type { Settings } from '../config/settings.ts'
import type { ComponentHealth } from '../health.ts'
import { signDelivery } from '../intake/signature/sign-delivery.ts'
import { type NoticeAttempt, type NotifyDeps, notify } from '../jobs/notify/notify.ts'
import { personalChannel } from '../jobs/notify/plan.ts'
import { openSender, type SignNotice } from '../jobs/notify/send.ts'
import { readRegister } from '../jobs/people/decide.ts'
import type { Queue } from '../jobs/queue/queue.ts'
import { isDone, type Tick } from '../jobs/schedule.ts'
import type { Observer } from '../ops/observe.ts'
import type { NoticeContent } from '../presentation/notice.ts'
import type { Database } from '../store/database.ts'
import type { UnsentMessages } from '../store/notifications.ts'
import type { Tables } from '../store/tables.ts'

/** A cause is notified within a minute. */
const tickExpression = '*/15 * * * * *'

type NotificationDeps = { db: Database<Tables>; queue: Queue; holder: string; observer: Observer }

export type Notifications = { jobs: { notify: () => Promise<void> }; ticks: Tick[] }

/** Sends nothing if the settings name no channel and no person. */
export function composeNotifications(
  settings: Settings,
  { db, queue, holder, observer }: NotificationDeps,
): Notifications {
  // A queued wake-up may be of earlier settings.
  if (settings.notifications === null) return { jobs: { notify: () => Promise.resolve() }, ticks: [] }
  const deps = notifyDeps(settings, { db, holder, observe: observer.notification })
  const wake = () => isDone(queue.wake('notify'), (error) => observer.jobFailed('notify', error))
  return {
    jobs: { notify: () => notify(deps) },
    ticks: [{ name: 'notify', expression: tickExpression, run: wake }],
  }
}

type ComposedNotifyDeps = {
  db: NotifyDeps['db']
  holder: string
  observe: (attempt: NoticeAttempt) => void
  now?: () => Date
}

export function notifyDeps(
  settings: Settings,
  { db, holder, observe, now = () => new Date() }: ComposedNotifyDeps,
): NotifyDeps {
  const { notifications, alerts, links, services, networks, people } = settings
  return {
    db,
    holder,
    now,
    observe,
    settings: notifications ?? { channels: [], people: [], digest: null },
    alerts,
    links: {
      console: sharedLinks(links).console,
      services: services.map(({ name }) => name),
      networks: networks.map(({ name }) => name),
    },
    register: (tx) => readRegister(tx, people.administratorKey),
    sign: signNotice,
    hide: redactorOf(settings).hide,
  }
}

/** By Standard Webhooks. */
const signNotice: SignNotice = (secret, unsigned) =>
  signDelivery(
    {
      settings: { scheme: 'standard-webhooks', headers: 'webhook', tolerance: 0 },
      secrets: [{ text: secret, notBefore: null, notAfter: null }],
    },
    unsigned,
  )

/** Past the database, for a test of one channel. @returns the problem, without secrets; null on success */
export async function sendNotice(
  settings: Settings,
  channel: string,
  content: NoticeContent,
): Promise<string | null> {
  const found = settings.notifications?.channels.find(({ name }) => name === channel)
  if (found === undefined) return 'no such channel'
  const sender = openSender(found.target, signNotice)
  const notice = { messageId: crypto.randomUUID(), threadId: null, content, writtenAt: new Date() }
  const problem = await sender.send(notice).finally(sender.close)
  return problem === null ? null : redactorOf(settings).hide(problem)
}

/** Deposits are booked all the same, so that this is never a failure. */
export function judgeNotifications(
  { notifications }: Pick<Settings, 'notifications'>,
  unsent: readonly UnsentMessages[],
): ComponentHealth[] {
  const part = 'notifications'
  if (notifications === null) return []
  const { channels, people } = notifications
  const names = [...channels.map(({ name }) => name), ...people.map(({ person }) => personalChannel(person))]
  const failing = unsent.filter(({ channel, problem }) => problem !== null && names.includes(channel))
  if (failing.length === 0) return [{ part, state: 'fine', says: 'every message was accepted' }]
  return failing.map(({ channel, waiting, problem }) => ({
    part,
    state: 'warning',
    says: `${channel} accepts no message (${problem}); ${waiting} ${waiting === 1 ? 'waits' : 'wait'}`,
  }))
}
