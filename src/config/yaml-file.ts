import { type Document, isNode, LineCounter, parseDocument, stringify } from 'yaml'
import { z } from 'zod'
import { messageOf } from '../core/errors.ts'
import { parseTime } from '../core/time.ts'

const unitsMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** In milliseconds. */
export const duration = z
  .string()
  .regex(/^\d{1,6}(ms|s|m|h)$/, 'must be a duration like 500ms, 30s, 10m or 2h')
  .transform((text) => Number(text.replace(/\D+/, '')) * (unitsMs[text.replace(/\d+/, '')] ?? 0))

/** A day in UTC, or a time. */
export const time = z.string().transform((text, context) => {
  const parsed = parseTime(text)
  if (parsed !== null) return parsed
  refuseIn(context)([], 'must be a day like 2026-01-31, or a time like 2026-01-31T12:00:00Z')
  return z.NEVER
})

export type Refuse = (path: readonly PropertyKey[], message: string) => void

/** @param outer of the inner paths */
export function refuseIn(
  context: Pick<z.core.$RefinementCtx, 'addIssue'>,
  ...outer: readonly PropertyKey[]
): Refuse {
  return (path, message) =>
    context.addIssue({ code: 'custom', path: [...outer, ...path], message, input: undefined })
}

export function refuseAt(refuse: Refuse, ...outer: readonly PropertyKey[]): Refuse {
  return (path, message) => refuse([...outer, ...path], message)
}

/** Every fault contains its position and says what is expected; unknown keys are rejected. */
export function parseYaml<Schema extends z.ZodType>(
  schema: Schema,
  text: string,
): { file: z.output<Schema> | null; faults: string[] } {
  const { value, faults, lineOf } = readYaml(text)
  if (faults.length > 0) return { file: null, faults }
  const result = schema.safeParse(value ?? {}, { error: expectation })
  if (result.success) return { file: result.data, faults: [] }
  return {
    file: null,
    faults: result.error.issues.map((issue) => {
      const keys = 'keys' in issue ? issue.keys : []
      const line = lineOf([...issue.path, ...keys.slice(0, 1)])
      return `${line === null ? '' : `line ${line}, `}${issue.path.join('.') || 'the file'}: ${issue.message}`
    }),
  }
}

export function writeYaml(document: object): string {
  return stringify(document)
}

const nouns: Readonly<Record<string, string>> = {
  string: 'text',
  object: 'keys with values',
  record: 'keys with values',
  array: 'a list',
  boolean: 'true or false',
  int: 'a whole number',
}

/** For issues without a message of their own. */
function expectation(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'invalid_type')
    return issue.input === undefined ? 'is missing' : `must be ${nouns[issue.expected] ?? issue.expected}`
  if (issue.code === 'unrecognized_keys') return `unknown key ${issue.keys.join(', ')}`
  if (issue.code === 'invalid_value') return oneOf(issue.values)
  if (issue.code === 'invalid_union' && Array.isArray(issue.options)) return oneOf(issue.options)
  if (issue.code === 'too_small') return atLeast(issue)
  return issue.code === 'too_big' ? `must be at most ${issue.maximum} ${unitOf(issue)}`.trim() : undefined
}

function atLeast(issue: z.core.$ZodRawIssue<z.core.$ZodIssueTooSmall>): string {
  if (unitOf(issue) !== '') return 'must not be empty'
  return `must be ${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}`
}

function unitOf({ origin }: { origin: string }): string {
  return { string: 'characters', array: 'entries' }[origin] ?? ''
}

function oneOf(values: readonly unknown[]): string {
  return `must be ${values.length > 1 ? 'one of ' : ''}${values.join(', ')}`
}

function readYaml(text: string) {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines })
  const lineOf = (path: readonly PropertyKey[]) => lineIn(document, lines, path)
  // The first line of a message states the problem and its position; an excerpt of the text follows.
  if (document.errors.length > 0)
    return { lineOf, faults: document.errors.map(({ message }) => message.replace(/:?\n[^]*/, '')) }
  try {
    return { lineOf, value: document.toJS() as unknown, faults: [] }
  } catch (error) {
    return { lineOf, faults: [messageOf(error)] }
  }
}

/** The closest parent if the path is missing; null if there is none. */
function lineIn(document: Document, lines: LineCounter, path: readonly PropertyKey[]): number | null {
  for (let length = path.length; length > 0; length--) {
    const node: unknown = document.getIn(path.slice(0, length), true)
    if (isNode(node) && node.range) return lines.linePos(node.range[0]).line
  }
  return null
}
