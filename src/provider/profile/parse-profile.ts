import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { type Document, isNode, LineCounter, parseDocument } from 'yaml'
import { Fault, messageOf } from '../../core/errors.ts'
import { parseAssetName } from './known-assets.ts'
import { type Profile, profileSchema } from './profile-schema.ts'

/**
 * Each problem is one line: `line 12, record.id: …`.
 * @param networks allowed names; any if omitted
 */
export function parseProfile(
  text: string,
  networks?: ReadonlySet<string>,
): { profile: Profile | null; faults: string[] } {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines })
  if (document.errors.length > 0) {
    // An excerpt of the text follows the first line.
    const faults = document.errors.map(
      ({ message, pos }) =>
        `line ${lines.linePos(pos[0]).line}: ${message.replace(/ at line [^]*|:?\n[^]*/, '')}`,
    )
    return { profile: null, faults }
  }
  const value = valueOf(document)
  if (value.fault !== null) return { profile: null, faults: [value.fault] }
  const result = profileSchema.safeParse(value.value)
  const issues = result.success ? strangeNetworks(result.data, networks) : result.error.issues
  if (result.success && issues.length === 0) return { profile: result.data, faults: [] }
  const faults = issues.map((issue) => {
    const keys = 'keys' in issue ? issue.keys : []
    const line = lineOf(document, lines, [...issue.path, ...keys.slice(0, 1)])
    return `line ${line}, ${issue.path.join('.') || 'the profile'}: ${problemOf(issue.message)}`
  })
  return { profile: null, faults }
}

type Issue = { path: readonly PropertyKey[]; message: string }

function strangeNetworks(profile: Profile, networks: ReadonlySet<string> | undefined): Issue[] {
  if (networks === undefined) return []
  const named = [
    ...Object.entries(profile.networks).map(([word, network]) => ({ path: ['networks', word], network })),
    ...Object.entries(profile.assets).flatMap(([word, name]) => {
      const { network } = parseAssetName(name)
      return network === null ? [] : [{ path: ['assets', word], network }]
    }),
  ]
  return named
    .filter(({ network }) => !networks.has(network))
    .map(({ path, network }) => ({ path, message: `${network} is no network of the settings` }))
}

function valueOf(document: Document): { value: unknown; fault: string | null } {
  try {
    return { value: document.toJS() ?? {}, fault: null }
  } catch (error) {
    return { value: null, fault: `line 1: ${messageOf(error)}` }
  }
}

function problemOf(message: string): string {
  if (message.endsWith('received undefined')) return 'is missing'
  return message.startsWith('Invalid input: expected object')
    ? 'is neither a path, nor a list of paths, nor keys with values'
    : message
}

/** For a missing key, the line of the nearest existing parent. */
function lineOf(document: Document, lines: LineCounter, path: readonly PropertyKey[]): number {
  for (let length = path.length; length > 0; length--) {
    const node: unknown = document.getIn(path.slice(0, length), true)
    if (isNode(node) && node.range) return lines.linePos(node.range[0]).line
  }
  return 1
}

/**
 * @param networks allowed names; any if omitted
 * @throws Fault `settings_bad` that lists every problem with its line
 */
export function loadProfile(path: string, networks?: ReadonlySet<string>): Profile {
  const { profile, faults } = parseProfile(readText(path), networks)
  if (profile !== null) return profile
  throw new Fault('settings_bad', { faults: faults.map((fault) => `profile ${basename(path)}, ${fault}`) })
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const fix =
      'service.profile is the name of one that comes along, or a path as seen from the settings file'
    throw new Fault('settings_bad', {
      faults: [`profile ${basename(path)} cannot be read: ${messageOf(error)}; ${fix}`],
    })
  }
}
