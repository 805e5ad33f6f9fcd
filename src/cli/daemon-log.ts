import type { Logger } from 'pino'
import { redactorOf, secretsOf } from '../config/secrets-of.ts'
import type { Settings } from '../config/settings.ts'
import { createLog } from '../log/create-log.ts'

type DaemonLog = { log: Logger; readSettings: () => Settings }

/**
 * The log of a daemon, on standard output or in a file. It redacts the secrets of the settings, including those that
 * are reloaded later.
 */
export function openDaemonLog(settings: Settings, readSettings: () => Settings, file?: string): DaemonLog {
  const hidden = redactorOf(settings)
  return {
    log: createLog({ level: settings.logLevel, hidden, ...(file !== undefined && { file }) }),
    readSettings() {
      const read = readSettings()
      hidden.add(secretsOf(read))
      return read
    },
  }
}
