import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { destination, type Logger, pino } from 'pino'

/** Never written, wherever they turn up in what is logged, down to the fourth level. */
const secretNames = [
  'apiKey',
  'secret',
  'secrets',
  'seed',
  'password',
  'authorization',
  'x-api-key',
  'body',
  'url',
  'databaseUrl',
  'queueUrl',
  'rpcUrls',
]
const secretPaths = ['', '*', '*.*', '*.*.*'].flatMap((above) =>
  secretNames.map((name) => `${above}["${name}"]`),
)

/** JSON lines on standard output, or in a file. What may hold a secret is left out. */
export function createLog({ level, file }: { level: string; file?: string }): Logger {
  if (file !== undefined) mkdirSync(dirname(file), { recursive: true })
  return pino(
    { level, redact: { paths: secretPaths, censor: '[redacted]' } },
    destination({ dest: file ?? 1, sync: false }),
  )
}
