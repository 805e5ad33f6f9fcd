import { pino } from 'pino'
import { startDaemon } from '../../src/app/daemon.ts'
import { parseSettings } from '../../src/config/settings.ts'
import type { Role } from '../../src/health.ts'
import { freePort, loopback } from '../../src/sandbox/free-port.ts'

/** A daemon that is scraped, in a process of its own, so that its processor time is known. No URL ends with a slash. */
export type Scraped = { webhookUrl: string; metricsUrl: string; consoleUrl: string; apiUrl: string }
export type ToServe = { databaseUrl: string; secret: string; role: Role }

const { databaseUrl, secret, role } = JSON.parse(process.argv[2] ?? '{}') as ToServe
const settings = parseSettings(
  {
    DATABASE_URL: databaseUrl,
    SERVICE_URL: 'http://127.0.0.1:9',
    SERVICE_API_KEY: 'key',
    WEBHOOK_SECRETS: secret,
    RPC_BASE: 'http://127.0.0.1:9',
    HTTP_HOST: loopback,
    HTTP_PORT: String(await freePort()),
    OPS_PORT: String(await freePort()),
    API_HOST: loopback,
    API_PORT: String(await freePort()),
  },
  () => '',
)
const log = pino({ level: 'silent' })
const daemon = await startDaemon(settings, { roles: [role], version: 'bench', log })
process.once('disconnect', () => process.exit(0))
process.send?.({
  webhookUrl: daemon.webhookUrl ?? '',
  metricsUrl: `${daemon.opsUrl}/metrics`,
  consoleUrl: daemon.opsUrl,
  apiUrl: daemon.apiUrl ?? '',
} satisfies Scraped)
