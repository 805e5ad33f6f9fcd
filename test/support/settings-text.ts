import { expect } from 'vitest'
import { parseSettings, type Settings } from '../../src/config/settings.ts'
import { isFault } from '../../src/core/errors.ts'

export const environment = {
  DATABASE_URL: 'postgres://db/depositd',
  SERVICE_URL: 'https://service.example',
  SERVICE_API_KEY: 'key',
  WEBHOOK_SECRETS: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  RPC_BASE: 'https://base.example',
  DEPOSITD_CONFIG: 'settings.yaml',
}

/** Settings by this text of the file, beside an environment that is complete. */
export function parse(text: string): Settings {
  return parseSettings(environment, () => text)
}

/** Every fault of the text, each in one line, without the name of the setting and the number of the line. */
export function faultsOf(text: string): readonly string[] {
  try {
    parse(text)
    return []
  } catch (error) {
    if (!isFault(error, 'settings_bad')) throw error
    expect(error.details.faults.filter((fault) => fault.includes('\n'))).toEqual([])
    return error.details.faults.map((fault) => fault.replace(/^DEPOSITD_CONFIG, (line \d+, )?/, ''))
  }
}
