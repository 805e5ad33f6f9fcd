import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { composeNotifications } from '../../src/app/notifications.ts'
import { createQueue, queueLimits } from '../../src/jobs/queue/queue.ts'
import { sharedTicks, startSchedule } from '../../src/jobs/schedule.ts'
import { createMetrics } from '../../src/ops/metrics.ts'
import { createObserver } from '../../src/ops/observe.ts'
import { claimTick, giveBackTick, ticksGivenBack } from '../../src/store/streams.ts'
import { type Books, openBooks } from '../support/books.ts'
import { type MailServer, mailInstalled, startMailServer } from '../support/mail-server.ts'
import { notifyingSettings } from '../support/notified.ts'
import { honestNetworks, openNetworks, plant, plantedCauses } from '../support/planted-causes.ts'
import { until } from '../support/until.ts'

const expected = plantedCauses.map(({ kind, network }) => `${kind} on ${network} (service default)`)

/**
 * Forty causes, from stored evidence through the real decisions, and two processes with the real schedule and the real
 * queue, to a real mail server.
 */
describe.skipIf(!mailInstalled())('messages about forty causes', () => {
  const stack = new AsyncDisposableStack()
  let books: Books
  let mail: MailServer

  beforeAll(async () => {
    books = stack.use(await openBooks())
    await openNetworks(books)
    mail = stack.use(await startMailServer())
    for (const network of honestNetworks) await plant(books, { network, kind: null }, 'honest')
    await books.settle()
    for (const holder of ['one', 'two']) stack.defer(await startNotifying(books, mail, holder))
  }, 60_000)
  afterAll(() => stack.disposeAsync())

  test('each gets one message within a minute, whose title is the cause', async () => {
    for (const name of ['first', 'second']) for (const cause of plantedCauses) await plant(books, cause, name)
    await books.settle()
    const plantedAt = Date.now()
    await until('forty messages', () => (mail.mails().length >= expected.length ? true : null), 90_000)
    const seconds = (Date.now() - plantedAt) / 1000
    // The next run would repeat what this one has sent.
    await until('another run', () => (Date.now() - plantedAt > 35_000 ? true : null))
    const subjects = mail.mails().map(({ headers }) => headers['subject'] ?? '')
    expect(subjects.toSorted()).toEqual(expected.toSorted())
    expect(seconds).toBeLessThan(60)
  }, 180_000)
})

/** As a process with the roles `worker` and `scheduler`. */
async function startNotifying(
  { url, db }: Books,
  mail: MailServer,
  holder: string,
): Promise<() => Promise<void>> {
  const settings = notifyingSettings(
    { url },
    '{ from: depositd@example.com, digest: null, channels: { mail: { type: email, to: [ops@example.com] } } }',
    { SMTP_URL: mail.url },
  )
  const observer = createObserver(createMetrics('test'), pino({ level: 'silent' }))
  const queue = await createQueue({
    url,
    name: 'depositd',
    limits: queueLimits,
    recurring: new Set(['notify']),
    report: observer.queueTrouble,
  })
  const { jobs, ticks } = composeNotifications(settings, { db, queue, holder, observer })
  queue.work(jobs, { concurrency: 2 })
  const end = startSchedule(
    sharedTicks(ticks, {
      claim: (tick, quietMs) => claimTick(db, { tick, quietMs }),
      giveBack: (tick, claim) => giveBackTick(db, { tick, claim }),
      givenBack: () => ticksGivenBack(db),
    }),
    (error) => observer.jobFailed('notify', error),
  )
  return async () => {
    end()
    await queue.stop()
  }
}
