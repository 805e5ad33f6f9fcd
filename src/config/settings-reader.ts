import type { Environment } from './environment.ts'
import { parseSettings, type Settings } from './settings.ts'

/** Beside the files that are read by name: where settings of webhooks may come from. */
const followedNames = ['DEPOSITD_CONFIG_FILE', 'WEBHOOK_SCHEME_FILE', 'WEBHOOK_SECRETS_FILE']

/**
 * Reads the settings, and reads them again only where a file was changed that those of webhooks come from: to look at
 * a few files is nothing, while parsing all settings every few seconds would keep webhooks waiting.
 * @returns a function that throws Fault `settings_bad` as long as there is a fault.
 */
export function createSettingsReader(
  environment: Environment,
  readText: (path: string) => string,
): () => Settings {
  const named = followedNames.map((name) => environment[name]).filter((path) => path !== undefined)
  const texts = new Map<string, string>()
  let settings: Settings | null = null

  const textOf = (path: string): string => {
    try {
      return readText(path)
    } catch {
      return ''
    }
  }
  const remember = (path: string): string => {
    const text = readText(path)
    texts.set(path, text)
    return text
  }
  return () => {
    if (settings !== null && [...texts].every(([path, text]) => textOf(path) === text)) return settings
    settings = null
    texts.clear()
    for (const path of named) texts.set(path, textOf(path))
    settings = parseSettings(environment, remember)
    return settings
  }
}
