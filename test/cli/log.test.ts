import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { expect, test } from 'vitest'
import { createLog } from '../../src/cli/log.ts'
import { parseSettings } from '../../src/config/settings.ts'
import { temporaryFolder } from '../support/folder.ts'
import { until } from '../support/until.ts'

/** The log is written behind the program's back; this line is the last. */
const lastLine = 'the last line'

async function logged(write: (log: Logger) => void, level = 'info'): Promise<string> {
  const file = join(await temporaryFolder(), 'deeper', 'depositd.log')
  const log = createLog({ level, file })
  write(log)
  log.fatal(lastLine)
  const written = () => (existsSync(file) ? readFileSync(file, 'utf8') : '')
  const text = await until('writing the log', () => (written().includes(lastLine) ? written() : null))
  return text.replace(/.*\n$/, '')
}

const secret = 'hunter2'

test.each([
  ['apiKey'],
  ['secret'],
  ['secrets'],
  ['seed'],
  ['password'],
  ['authorization'],
  ['x-api-key'],
  ['body'],
  ['url'],
  ['databaseUrl'],
  ['queueUrl'],
  ['rpcUrls'],
])('%s is never written, on the top or nested', async (name) => {
  const holder = { [name]: secret }
  const text = await logged((log) => {
    log.info(holder)
    log.info({ a: holder })
    log.info({ a: { b: holder } })
    log.info({ a: [{ b: holder }] })
    log.child({ part: holder }).info({ err: Object.assign(new Error('failed'), holder) })
  })
  expect(text.trim().split('\n')).toHaveLength(5)
  expect(text).not.toContain(secret)
  expect(text).toContain('[redacted]')
})

test('all settings at once give no secret away', async () => {
  const settings = parseSettings(
    {
      DATABASE_URL: `postgres://me:${secret}@db/x`,
      QUEUE_URL: `redis://:${secret}@queue`,
      SERVICE_URL: `https://service.example/${secret}`,
      SERVICE_API_KEY: secret,
      WEBHOOK_SECRETS: `whsec_${secret},${secret}`,
      RPC_BASE: `https://rpc.example/${secret}`,
    },
    () => '',
  )
  expect(await logged((log) => log.info({ settings }))).not.toContain(secret)
  expect(await logged((log) => log.info(settings))).not.toContain(secret)
})

test('what is no secret is written as JSON, from the level on that is asked for', async () => {
  const text = await logged((log) => {
    log.info({ kind: 'unreported' }, 'mismatch')
    log.warn({ err: new Error('gone') }, 'queue')
  }, 'warn')
  expect(JSON.parse(text)).toMatchObject({ level: 40, msg: 'queue', err: { message: 'gone' } })
})
