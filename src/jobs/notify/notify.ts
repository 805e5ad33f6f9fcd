import type { Kysely } from 'kysely'
import type { NotificationTarget } from '../../config/notifications.ts'
import { reach } from '../../failpoint.ts'
import type { NoticeContent } from '../../presentation/notice.ts'
import { inTransaction } from '../../store/database.ts'
import { noteAttempt, takeDueMessage } from '../../store/notifications.ts'
import { keepLease, releaseLease, takeLease, underLease } from '../../store/streams.ts'
import type { Tables } from '../../store/tables.ts'
import { type PlanDeps, personalChannel, planMessages } from './plan.ts'
import { openSender, type SignNotice } from './send.ts'

export type NotifyDeps = PlanDeps & {
  db: Kysely<Tables>
  /** Of this process; it plans alone. */
  holder: string
  sign: SignNotice
  /** Of a problem: servers may repeat a password. */
  hide: (text: string) => string
  now: () => Date
  observe: (result: NoticeAttempt) => void
}

export type NoticeAttempt = { channel: string; problem: string | null; tries: number }

const stream = 'notify'
const leaseMs = 15_000

/** Plans messages, in one process at a time, and sends those that are due. */
export async function notify(deps: NotifyDeps): Promise<void> {
  const { db, holder, now, settings } = deps
  const lease = await takeLease(db, { stream, holder, ttlMs: leaseMs })
  if (lease !== null) {
    await underLease(db, lease, () =>
      inTransaction(db, async (tx) => {
        await keepLease(tx, lease, leaseMs)
        await planMessages(tx, deps, now())
      }),
    )
    await releaseLease(db, lease)
  }
  const channels = [
    ...settings.channels.map(({ name, target }) => ({ channel: name, target })),
    ...settings.people.map(({ person, target }) => ({ channel: personalChannel(person), target })),
  ]
  await Promise.all(channels.map((one) => sendDue(deps, one)))
}

/** Per run: the next run continues. */
const sentMax = 200

/** In order: a message that fails keeps the later ones of its channel waiting. */
async function sendDue(
  deps: NotifyDeps,
  { channel, target }: { channel: string; target: NotificationTarget },
): Promise<void> {
  const { db, sign, hide, now, observe } = deps
  const sender = openSender(target, sign)
  try {
    for (let sent = 0; sent < sentMax; sent++) {
      const due = await takeDueMessage(db, channel, now())
      if (due === null) return
      const failed = await sender.send({ ...due, content: due.content as NoticeContent })
      const problem = failed === null ? null : hide(failed).slice(0, problemMax)
      reach('notify.sent')
      await noteAttempt(db, due.id, { problem, at: now() })
      observe({ channel, problem, tries: due.tries })
      if (problem !== null) return
    }
  } finally {
    sender.close()
  }
}

const problemMax = 300
