import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Logger, pino } from 'pino'
import { describeThrown } from './describe-thrown.ts'
import { createHidden, type SecretRedactor } from './hide-secrets.ts'
import { openDestination } from './log-destination.ts'

export type LogSettings = {
  level: string
  /** Standard output without it. */
  file?: string
  /** Secrets that are known, to be left out wherever they stand. */
  hidden?: SecretRedactor
}

/** JSON lines on standard output, or in a file. What may hold a secret is left out. */
export function createLog({ level, file, hidden = createHidden() }: LogSettings): Logger {
  if (file !== undefined) mkdirSync(dirname(file), { recursive: true })
  return pino(
    {
      level,
      serializers: { err: describeThrown },
      // On the whole line, so that nothing gets past it, whatever it is written as. Fields are those of the list of events.
      hooks: { streamWrite: hidden.hide },
    },
    openDestination(file),
  )
}
