import { type Document, isNode, LineCounter, parseDocument } from 'yaml'
import { messageOf } from '../../core/errors.ts'
import { type Profile, profileSchema } from './profile-schema.ts'

/** Reads the text of a profile. Every fault is one line that begins with its place: `line 12, record.id: …`. */
export function parseProfile(text: string): { profile: Profile | null; faults: string[] } {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines })
  if (document.errors.length > 0) {
    // The first line of a message says what; a drawing of the place follows.
    const faults = document.errors.map(
      ({ message, pos }) =>
        `line ${lines.linePos(pos[0]).line}: ${message.replace(/ at line [^]*|:?\n[^]*/, '')}`,
    )
    return { profile: null, faults }
  }
  const value = valueOf(document)
  if (value.fault !== null) return { profile: null, faults: [value.fault] }
  const result = profileSchema.safeParse(value.value)
  if (result.success) return { profile: result.data, faults: [] }
  const faults = result.error.issues.map((issue) => {
    const keys = 'keys' in issue ? issue.keys : []
    const line = lineOf(document, lines, [...issue.path, ...keys.slice(0, 1)])
    return `line ${line}, ${issue.path.join('.') || 'the profile'}: ${problemOf(issue.message)}`
  })
  return { profile: null, faults }
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

/** Where the path begins in the text; where it leads to nothing, as for a missing key, what would hold it. */
function lineOf(document: Document, lines: LineCounter, path: readonly PropertyKey[]): number {
  for (let length = path.length; length > 0; length--) {
    const node: unknown = document.getIn(path.slice(0, length), true)
    if (isNode(node) && node.range) return lines.linePos(node.range[0]).line
  }
  return 1
}
