import { type Document, isNode, LineCounter, parseDocument, stringify } from 'yaml'
import { z } from 'zod'
import { messageOf } from '../core/errors.ts'

export const duration = z
  .string()
  .regex(/^\d{1,6}(ms|s|m|h)$/, 'is no duration: write it like 500ms, 30s, 10m or 2h')
  .transform(milliseconds)

/** Every fault contains its position; unknown keys are rejected. */
export function parseYaml<Schema extends z.ZodType>(
  schema: Schema,
  text: string,
): { file: z.output<Schema> | null; faults: string[] } {
  const { value, faults, lineOf } = readYaml(text)
  if (faults.length > 0) return { file: null, faults }
  const result = schema.safeParse(value ?? {})
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

function milliseconds(text: string): number {
  const [, digits = '', unit = ''] = /^(\d+)(\w+)$/.exec(text) ?? []
  const factor: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }
  return Number(digits) * (factor[unit] ?? 0)
}
