import {
  chmodSync,
  chownSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { type Document, parse, parseDocument } from 'yaml'
import { type Environment, isSet } from '../../config/environment.ts'
import { parseSettings, type ServiceSettings, type Settings } from '../../config/settings.ts'
import { Fault, messageOf } from '../../core/errors.ts'
import { defaultService, type ServiceName } from '../../core/evidence.ts'
import type { Amount } from '../../core/money.ts'
import { askPerson, isAgreed } from '../ask.ts'
import { attachedEnvironment, type Context } from '../context.ts'
import { readTextFile } from '../files.ts'
import { badValue, wrongUse } from '../options.ts'

export type OnboardOptions = {
  url?: string
  auth?: string
  list?: string
  publicKeys?: string
  since?: Date
  /** Of a million calls of nodes. */
  price?: Amount
  wait: number
  records: number
  yes?: boolean
}

/** What every step of an onboarding uses. */
export type Session = {
  context: Context
  environment: Environment
  name: ServiceName
  options: OnboardOptions
  file: SettingsDocument
  /** Of the settings file. */
  settingsPath: string
  /** Path of a file that a step leaves for the next one, and for people. */
  fileNamed: (name: string) => string
  /** Where the sections of the service are in the settings file. */
  at: { service: readonly string[]; webhooks: readonly string[] }
  /** As the settings file says now. @throws Fault `settings_bad` */
  service: () => { settings: Settings; service: ServiceSettings }
  say: (text: string) => void
  /** Ends the command, which continues here when it is called again, unless the person agrees. */
  agree: (question: string) => Promise<void>
  /** The answer of the person; empty with `--yes`. */
  ask: (question: string) => Promise<string>
}

/** It becomes the name of a folder. */
const nameForm = /^[a-z][a-z0-9-]{0,30}$/

/** @throws Fault `usage_bad` without a settings file */
export function openSession(context: Context, name: string, options: OnboardOptions): Session {
  if (!nameForm.test(name))
    throw badValue('the service', name, 'name it with lower-case letters, digits and hyphens, like acme')
  const environment = attachedEnvironment(context)
  const settingsPath = environment.DEPOSITD_CONFIG
  if (settingsPath === undefined || !isSet(context.environment, 'DATABASE_URL'))
    throw wrongUse(
      'onboard writes into the settings file, and embedded mode has none',
      'set DATABASE_URL and DEPOSITD_CONFIG, as in docs/how-to/onboard-a-service.md',
    )
  const folder = join(dirname(settingsPath), 'onboarding', name)
  mkdirSync(folder, { recursive: true })
  const say = (text: string) => void (context.json || context.stdout.write(`${text}\n`))
  const isDefault = name === defaultService
  const at = isDefault
    ? { service: ['service'], webhooks: ['webhooks'] }
    : { service: ['services', name], webhooks: ['services', name, 'webhooks'] }
  return {
    context,
    environment,
    name: name as ServiceName,
    options,
    file: openSettingsDocument(settingsPath),
    settingsPath,
    fileNamed: (one) => join(folder, one),
    at,
    service() {
      const settings = parseSettings(environment, (path) => readFileSync(path, 'utf8'))
      const service = settings.services.find((one) => one.name === name)
      if (service === undefined)
        throw wrongUse(`${name} is not in the settings file`, 'run this command again')
      return { settings, service }
    },
    say,
    ask: (question) => askPerson(context, question, options),
    async agree(question) {
      if (await isAgreed(context, question, options)) return
      throw wrongUse('stopped as you asked', 'run the same command again to continue from here')
    },
  }
}

/** A section as YAML on the command line, like `{ header: X-Token, secret: SERVICE_API_ACME_KEY }`. */
export function sectionOf(option: string, text: string): object {
  try {
    const section: unknown = parse(text)
    if (typeof section === 'object' && section !== null && !Array.isArray(section)) return section
  } catch {
    // Reported below.
  }
  throw wrongUse(
    `${option} is no YAML mapping`,
    `give it like ${option} '{ header: X-Token, secret: SERVICE_API_ACME_KEY }'`,
  )
}

type YamlPath = readonly string[]

/** The settings file, edited without losing its comments. */
type SettingsDocument = {
  has: (path: YamlPath) => boolean
  /** Undefined if it is missing. */
  read: (path: YamlPath) => unknown
  /** Null removes it. Call `save` to write the file. */
  set: (path: YamlPath, value: unknown) => void
  /** If the check throws, the file is as it was. */
  save: (check?: () => void) => void
}

/** @throws Fault `settings_bad` if the file is no YAML */
export function openSettingsDocument(path: string): SettingsDocument {
  const before = readTextFile('DEPOSITD_CONFIG', path)
  const document: Document = parseDocument(before)
  const [error] = document.errors
  if (error !== undefined)
    throw new Fault('settings_bad', {
      faults: [`DEPOSITD_CONFIG is not YAML: ${error.message.split('\n')[0]}`],
    })
  let saved = before
  return {
    has: (at) => document.hasIn(at),
    read: (at) => valueAt(document.toJS(), at),
    set(at, value) {
      if (value === null) document.deleteIn(at)
      else document.setIn(at, document.createNode(value))
    },
    save(check = () => undefined) {
      const earlier = saved
      saved = document.toString({ lineWidth: 110, singleQuote: true })
      replaceFile(path, saved)
      try {
        check()
      } catch (refusal) {
        replaceFile(path, earlier)
        throw refusal
      }
    },
  }
}

function valueAt(value: unknown, path: YamlPath): unknown {
  return path.reduce<unknown>(
    (inner, name) =>
      typeof inner === 'object' && inner !== null ? (inner as Record<string, unknown>)[name] : undefined,
    value,
  )
}

/** The daemon reads the file while it runs, as another user perhaps, and must never see half of it. */
function replaceFile(path: string, text: string): void {
  try {
    const target = realpathSync(path)
    const { mode, uid, gid } = statSync(target)
    const whole = `${target}.new`
    writeFileSync(whole, text, { mode })
    chmodSync(whole, mode)
    chownSync(whole, uid, gid)
    renameSync(whole, target)
  } catch (error) {
    const fix = 'run this command as a user who may write the file and its folder'
    throw wrongUse(`DEPOSITD_CONFIG cannot be written: ${messageOf(error)}`, fix, { cause: error })
  }
}
