import { readFileSync } from 'node:fs'
import { Fault, messageOf } from '../core/errors.ts'
/** One letter is replaced, missing or doubled, or two neighbours are swapped: HTTPS_PORT is no typo of HTTP_PORT. */
export function isTypoOf(word: string, meant: string): boolean {
  const place = firstDifference(word, meant)
  const [rest, restMeant] = [word.slice(place), meant.slice(place)]
  if (word.length === meant.length) return rest.slice(1) === restMeant.slice(1) || isSwapped(rest, restMeant)
  if (word.length === meant.length - 1) return rest === restMeant.slice(1)
  const isTwice = rest[0] === word[place - 1]
  return word.length === meant.length + 1 && isTwice && rest.slice(1) === restMeant
}

function isSwapped(rest: string, restMeant: string): boolean {
  return rest[0] === restMeant[1] && rest[1] === restMeant[0] && rest.slice(2) === restMeant.slice(2)
}

function firstDifference(one: string, other: string): number {
  const length = Math.min(one.length, other.length)
  let place = 0
  while (place < length && one[place] === other[place]) place++
  return place
}

export type Environment = Readonly<Record<string, string | undefined>>

/** @throws Fault `settings_bad` */
export function readFrom<Value>(environment: Environment, read: (reader: EnvironmentReader) => Value): Value {
  const reader = new EnvironmentReader(environment)
  const value = read(reader)
  if (reader.faults.length > 0) throw new Fault('settings_bad', { faults: reader.faults })
  return value
}

/** With this setting, Node accepts any certificate for any server. */
const unverifiedFault =
  'NODE_TLS_REJECT_UNAUTHORIZED is 0, by which no certificate would be looked at: unset it, and name an authority of your own in NODE_EXTRA_CA_CERTS'

export class EnvironmentReader {
  readonly faults: string[]
  readonly #environment: Environment
  readonly #asked = new Set<string>()

  constructor(environment: Environment) {
    this.#environment = environment
    this.faults = environment.NODE_TLS_REJECT_UNAUTHORIZED === '0' ? [unverifiedFault] : []
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
    const file = this.#environment[`${name}_FILE`]
    const value = this.#environment[name]
    if (file === undefined) return value === undefined ? undefined : this.#filled(name, value)
    if (value !== undefined) this.faults.push(`${name} and ${name}_FILE are both set; keep one`)
    try {
      return this.#filled(name, readFileSync(file, 'utf8').trim())
    } catch (error) {
      this.faults.push(`${name}_FILE cannot be read: ${messageOf(error)}`)
      return ''
    }
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
      this.faults.push(`${name} is no port: ${JSON.stringify(text)}`)
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
      this.faults.push(`${name} is ${JSON.stringify(text)}; it takes ${choices.join(', ')}`)
    return choice ?? null
  }

  /** A typo would silently leave a setting at its default. Call this after all settings were read. */
  refuseTypos(): void {
    const pairs = [...this.#asked].map((name) => [name, `${name}_FILE`])
    const known = pairs.flat()
    const missing = pairs.filter((pair) => pair.every((name) => this.#environment[name] === undefined)).flat()
    const isNamed = (name: string) => this.faults.some((fault) => fault.startsWith(`${name} is no setting`))
    const others = Object.keys(this.#environment).filter((name) => !known.includes(name) && !isNamed(name))
    for (const name of others) {
      const meant = missing.find((one) => isTypoOf(name, one))
      if (meant !== undefined) this.faults.push(`${name} is no setting; ${meant} is one`)
    }
  }

  #checkUrl(name: string, schemes: readonly string[], text: string): string {
    if (text === '') return text
    const scheme = URL.canParse(text) ? new URL(text).protocol.slice(0, -1) : ''
    // The fault does not repeat the text: a URL can contain a password.
    if (!schemes.includes(scheme))
      this.faults.push(`${name} is no address of the form ${schemes.join(':// or ')}://`)
    return text
  }

  #filled(name: string, text: string): string {
    if (text.trim() !== '') return text
    this.faults.push(`${name} is empty`)
    return ''
  }

  #split(name: string, text: string): string[] {
    const items = text.split(',').map((item) => item.trim())
    if (items.length > 1 && items.includes('')) this.faults.push(`${name} has an empty place in its list`)
    return items
  }
}
