import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type Server } from 'node:http'
import { text } from 'node:stream/consumers'
import { notifyDeps } from '../../src/app/notifications.ts'
import { parseSettings, type Settings } from '../../src/config/settings.ts'
import { type NoticeAttempt, notify } from '../../src/jobs/notify/notify.ts'
import { loopback } from '../../src/sandbox/free-port.ts'
import type { Books } from './books.ts'
import { makeSecret } from './sign-webhook.ts'

type HookRequest = { path: string; headers: IncomingHttpHeaders; body: string }

export type HookReceiver = {
  url: string
  requests: HookRequest[]
  /** Of all later answers. */
  answer: (status: number) => void
} & AsyncDisposable

/** A real HTTP server that keeps what is posted to it. */
export async function startHooks(): Promise<HookReceiver> {
  const requests: HookRequest[] = []
  let status = 200
  const server = createServer((request, response) => {
    void keep(request, requests).finally(() => response.writeHead(status).end('ok'))
  }).listen(0, loopback)
  await once(server, 'listening')
  return {
    url: `http://${loopback}:${portOf(server)}`,
    requests,
    answer: (next) => {
      status = next
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

async function keep(request: IncomingMessage, requests: HookRequest[]): Promise<void> {
  requests.push({ path: request.url ?? '', headers: request.headers, body: await text(request) })
}

function portOf(server: Server): number {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

export const hookSecret = makeSecret()

/** With a public URL and without a delay of alerts. */
export function notifyingSettings(
  { url }: Pick<Books, 'url'>,
  notifications: string,
  environment: Readonly<Record<string, string>>,
): Settings {
  const all = {
    DATABASE_URL: url,
    SERVICE_URL: 'http://127.0.0.1:9',
    SERVICE_API_KEY: 'key',
    WEBHOOK_SECRETS: makeSecret(),
    RPC_BASE: 'http://127.0.0.1:9',
    DEPOSITD_CONFIG: 'settings.yaml',
    PUBLIC_URL: 'https://depositd.example',
    ...environment,
  }
  return parseSettings(all, () => `alerts: { after: 0s }\nnotifications: ${notifications}\n`)
}

type Notified = { settings: Settings; now?: () => Date; holder?: string; attempts?: NoticeAttempt[] }

/** One run of the job. */
export function notifyOnce(
  { db }: Pick<Books, 'db'>,
  { settings, now = () => new Date(), holder = 'one', attempts = [] }: Notified,
): Promise<void> {
  const observe = (attempt: NoticeAttempt) => void attempts.push(attempt)
  return notify(notifyDeps(settings, { db, holder, now, observe }))
}
