import { text } from 'node:stream/consumers'
import { pino } from 'pino'
import { startService } from '../../src/service/service.ts'
import { type DepositServiceSettings } from '../../src/service/settings.ts'

// The service as a process of its own, for tests that kill it: settings come in, the address goes out.
const settings = JSON.parse(await text(process.stdin)) as DepositServiceSettings
const service = await startService(settings, { log: pino({ level: 'silent' }) })
process.stdout.write(`${service.url}\n`)
