import type { Environment } from './environment.ts'
import { parseSettings, type Settings } from './settings.ts'

/** Further files that settings of webhooks can come from, besides those read by name. */
const followedNames = ['DEPOSITD_CONFIG_FILE', 'WEBHOOK_SCHEME_FILE', 'WEBHOOK_SECRETS_FILE']

/**
 * Reads the settings, and reads them again only if a file with settings of webhooks changed. Checking a few files is
 * cheap; parsing all settings every few seconds would delay webhooks.
 * @returns a function that throws Fault `settings_bad` while there is a fault
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
