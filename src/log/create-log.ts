import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { destination, type Logger, pino } from 'pino'
import { describeThrown } from './describe-thrown.ts'
import { createHidden, type Hidden } from './hide-secrets.ts'

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

export type LogSettings = {
  level: string
  /** Standard output without it. */
  file?: string
  /** Secrets that are known, to be left out wherever they stand. */
  hidden?: Hidden
}

/** JSON lines on standard output, or in a file. What may hold a secret is left out. */
export function createLog({ level, file, hidden = createHidden() }: LogSettings): Logger {
  if (file !== undefined) mkdirSync(dirname(file), { recursive: true })
  return pino(
    {
      level,
      redact: { paths: secretPaths, censor: '[redacted]' },
      serializers: { err: describeThrown },
      // On the whole line, so that nothing gets past it, whatever it is written as.
      hooks: { streamWrite: hidden.hide },
    },
    destination({ dest: file ?? 1, sync: false }),
  )
}
