import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Fault, messageOf } from '../core/errors.ts'

/** One letter is replaced, missing or doubled, or two neighbours are swapped: HTTPS_PORT is no typo of HTTP_PORT. */
export function isTypoOf(word: string, meant: string): boolean {
  let place = 0
  while (place < meant.length && word[place] === meant[place]) place++
  const [before, after] = [meant.slice(0, place), meant.slice(place + 1)]
  const isReplaced = word.length === meant.length && word.endsWith(after)
  const [one = '', other = ''] = meant.slice(place)
  const others = [
    before + after,
    before + before.slice(-1) + one + after,
    before + other + one + after.slice(1),
  ]
  return word !== meant && (isReplaced || others.includes(word))
}

/** Its files can be added while the daemon runs, which variables cannot. */
export const secretsFolder = 'SECRETS_DIR'

export type Environment = Readonly<Record<string, string | undefined>>

/** Of embedded mode, below the working directory. */
export const embeddedFolder = '.depositd'

/** Itself, or by a file. */
export function isSet(environment: Environment, name: string): boolean {
  return environment[name] !== undefined || environment[`${name}_FILE`] !== undefined
}

/** @throws Fault `settings_bad` */
export function readFrom<Value>(environment: Environment, read: (reader: EnvironmentReader) => Value): Value {
  const reader = new EnvironmentReader(environment)
  const value = read(reader)
  if (reader.faults.length > 0) throw new Fault('settings_bad', { faults: reader.faults })
  return value
}

/** With this setting, Node accepts any certificate for any server. */
const unverifiedFault =
  'NODE_TLS_REJECT_UNAUTHORIZED is 0, so that no certificate would be verified: unset it, and name your own authority in NODE_EXTRA_CA_CERTS'

export class EnvironmentReader {
  readonly faults: string[]
  readonly #environment: Environment
  readonly #asked = new Set([secretsFolder])

  constructor(environment: Environment) {
    this.#environment = environment
    this.faults = environment.NODE_TLS_REJECT_UNAUTHORIZED === '0' ? [unverifiedFault] : []
    const folder = environment[secretsFolder]
    if (folder !== undefined && !existsSync(folder))
      this.faults.push(`${secretsFolder} does not exist: ${folder}; create the folder, or correct the path`)
  }

  /** An empty value is a fault and never takes the fallback. */
  text(name: string, fallback?: string): string {
    const value = this.optional(name) ?? fallback
    if (value === undefined) this.faults.push(`${name} is missing`)
    return value ?? ''
  }

  /** Empty if a fault was recorded, so that the caller records no second one. */
  optional(name: string): string | undefined {
    this.#asked.add(name)
    const value = this.#environment[name]
    const file = this.#environment[`${name}_FILE`] ?? (value === undefined ? this.#mounted(name) : undefined)
    if (file === undefined) return value === undefined ? undefined : this.#filled(name, value)
    if (value !== undefined) this.faults.push(`${name} and ${name}_FILE are both set; keep one`)
    try {
      return this.#filled(name, readFileSync(file, 'utf8').trim())
    } catch (error) {
      this.faults.push(`${name}_FILE cannot be read: ${messageOf(error)}`)
      return ''
    }
  }

  /** In the folder of secrets, a file has the name of its setting. */
  #mounted(name: string): string | undefined {
    const folder = this.#environment[secretsFolder]
    const path = folder === undefined ? undefined : join(folder, name)
    return path !== undefined && existsSync(path) ? path : undefined
  }

  url(name: string, schemes: readonly string[], fallback?: string): string {
    return this.#checkUrl(name, schemes, this.text(name, fallback))
  }

  urls(name: string, schemes: readonly string[]): string[] {
    const text = this.optional(name)
    return text === undefined ? [] : this.#split(name, text).map((one) => this.#checkUrl(name, schemes, one))
  }

  port(name: string, fallback: number): number {
    const text = this.text(name, fallback.toString())
    const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
    if (text !== '' && (port < 1 || port > 65_535))
      this.faults.push(`${name} must be a port from 1 to 65535, not ${JSON.stringify(text)}`)
    return port
  }

  choice<Choice extends string>(name: string, choices: readonly Choice[], fallback: Choice): Choice {
    return this.optionalChoice(name, choices) ?? fallback
  }

  /** Null if not set, or if a fault was recorded. */
  optionalChoice<Choice extends string>(name: string, choices: readonly Choice[]): Choice | null {
    const text = this.optional(name)
    const choice = choices.find((one) => one === text)
    if (text !== undefined && text !== '' && choice === undefined)
      this.faults.push(`${name} must be one of ${choices.join(', ')}, not ${JSON.stringify(text)}`)
    return choice ?? null
  }

  /** The text of the file that the setting names; empty without one, or if a fault was recorded. */
  fileText(name: string, readText: (path: string) => string): string {
    const path = this.optional(name) ?? ''
    try {
      return path === '' ? '' : readText(path)
    } catch (error) {
      this.faults.push(`${name} cannot be read: ${messageOf(error)}`)
      return ''
    }
  }

  /**
   * A typo would silently leave a setting at its default. Call this after all settings were read.
   * @param form of the names that only this program uses, except for the foreign ones
   */
  refuseUnknown(form: RegExp, foreign?: RegExp): void {
    const known = [...this.#asked].filter((name) => form.test(name))
    const unknown = this.unasked(form).filter((name) => foreign?.test(name) !== true)
    this.faults.push(...unknown.map((name) => `${name} is unknown; the settings are ${known.join(', ')}`))
  }

  /** Names of this form that are set, and that nothing has read. */
  unasked(form: RegExp): string[] {
    return Object.keys(this.#environment).filter(
      (name) => form.test(name) && !this.#asked.has(name.replace(/_FILE$/, '')),
    )
  }

  /** As for unknown names. Call this after all settings were read. */
  refuseTypos(): void {
    const pairs = [...this.#asked].map((name) => [name, `${name}_FILE`])
    const known = pairs.flat()
    const missing = pairs.filter((pair) => pair.every((name) => this.#environment[name] === undefined)).flat()
    const isNamed = (name: string) => this.faults.some((fault) => fault.startsWith(`${name} is unknown`))
    const others = Object.keys(this.#environment).filter((name) => !known.includes(name) && !isNamed(name))
    for (const name of others) {
      const meant = missing.find((one) => isTypoOf(name, one))
      if (meant !== undefined) this.faults.push(`${name} is unknown; did you mean ${meant}?`)
    }
  }

  #checkUrl(name: string, schemes: readonly string[], text: string): string {
    if (text === '') return text
    const scheme = URL.canParse(text) ? new URL(text).protocol.slice(0, -1) : ''
    // The fault does not repeat the text: a URL can contain a password.
    if (!schemes.includes(scheme))
      this.faults.push(`${name} must be an address that begins with ${schemes.join(':// or ')}://`)
    return text
  }

  #filled(name: string, text: string): string {
    if (text.trim() !== '') return text
    this.faults.push(`${name} is empty`)
    return ''
  }

  #split(name: string, text: string): string[] {
    const items = text.split(',').map((item) => item.trim())
    if (items.length > 1 && items.includes('')) this.faults.push(`${name} has an empty entry`)
    return items
  }
}
