import { chmodSync, chownSync, realpathSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { type Document, parseDocument } from 'yaml'
import { Fault, messageOf } from '../../core/errors.ts'
import { readTextFile } from '../files.ts'
import { wrongUse } from '../options.ts'

type YamlPath = readonly string[]

/** The settings file, edited without losing its comments. */
export type SettingsDocument = {
  has: (path: YamlPath) => boolean
  /** Undefined if it is missing. */
  read: (path: YamlPath) => unknown
  /** Null removes it. Call `save` to write the file. */
  set: (path: YamlPath, value: unknown) => void
  /** Returns what undoes the change. */
  save: () => () => void
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
    save() {
      const earlier = saved
      saved = document.toString({ lineWidth: 110, singleQuote: true })
      replaceFile(path, saved)
      return () => replaceFile(path, earlier)
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
