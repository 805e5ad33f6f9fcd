import { pino } from 'pino'
import { expect, test } from 'vitest'
import { type Daemon, startDaemon } from '../../src/app/daemon.ts'
import { parseSettings } from '../../src/config/settings.ts'
import { roles } from '../../src/health.ts'
import { freePort, loopback } from '../../src/sandbox/free-port.ts'
import { openBooksIn } from '../support/books.ts'
import { openEventReceiver, type ReceivedEvent } from '../support/event-receiver.ts'
import { judgingEnvironment } from '../support/judging-environment.ts'
import { testDatabase } from '../support/postgres.ts'
import { addEndpoint, eventsKey } from '../support/sent-events.ts'
import { makeSecret, signStandardWebhook } from '../support/sign-webhook.ts'
import { until } from '../support/until.ts'

const secret = makeSecret()

async function start(databaseUrl: string): Promise<Daemon> {
  const environment = judgingEnvironment(databaseUrl, {
    HTTP_HOST: loopback,
    HTTP_PORT: String(await freePort()),
    OPS_PORT: String(await freePort()),
    EVENTS_KEY: eventsKey.toString('base64'),
    WEBHOOK_SECRETS: secret,
    DEPOSITD_CONFIG: 'settings.yaml',
  })
  const settings = parseSettings(environment, () => 'events: { allowPrivate: true }')
  return startDaemon(settings, { roles, version: 'test', log: pino({ level: 'silent' }) })
}

/** Of a kind that the profile does not know: a mismatch opens. */
async function post(daemon: Daemon, id: string): Promise<void> {
  const body = Buffer.from(JSON.stringify({ id, type: `deposit.${id}`, data: {} }))
  const headers = signStandardWebhook({ secret, id, body, at: new Date() })
  const answer = await fetch(daemon.webhookUrl ?? '', {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body,
  })
  expect(answer.status).toBe(202)
}

test('what a webhook causes is at the receiver a moment later, and not only with the next look', async () => {
  await using stack = new AsyncDisposableStack()
  const books = stack.use(openBooksIn(await testDatabase()))
  const delays: number[] = []
  const types = new Set<string>()
  const { url } = stack.use(
    await openEventReceiver(({ body }: ReceivedEvent) => {
      const { timestamp, type } = JSON.parse(body) as { timestamp: string; type: string }
      types.add(type)
      delays.push(Date.now() - Date.parse(timestamp))
      return 200
    }),
  )
  const daemon = await start(books.url)
  stack.defer(daemon.stop)
  await addEndpoint(books, { url, types: ['mismatch.opened'] })
  for (let count = 0; count < 15; count++) {
    await post(daemon, `unheard_${count}`)
    await until('the event', () => (delays.length > count ? true : null), 20_000)
  }
  expect([...types]).toEqual(['mismatch.opened'])
  // A look each second would need half a second at the median.
  const median = delays.toSorted((one, other) => one - other)[7]
  expect(median).toBeLessThan(250)
}, 90_000)
