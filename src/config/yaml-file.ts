import { parseDocument, stringify } from 'yaml'
import { z } from 'zod'
import { messageOf } from '../core/errors.ts'

export const duration = z
  .string()
  .regex(/^\d{1,6}(ms|s|m|h)$/, 'is no duration: write it like 500ms, 30s, 10m or 2h')
  .transform(milliseconds)

/** Reads the text of a file of settings. Every fault is named with its place; nothing unknown is let through. */
export function parseYaml<Schema extends z.ZodType>(
  schema: Schema,
  text: string,
): { file: z.output<Schema> | null; faults: string[] } {
  const { value, faults } = readYaml(text)
  if (faults.length > 0) return { file: null, faults }
  const result = schema.safeParse(value ?? {})
  if (result.success) return { file: result.data, faults: [] }
  return {
    file: null,
    faults: result.error.issues.map(({ path, message }) => `${path.join('.') || 'the file'}: ${message}`),
  }
}

/** Writes what a file of settings may hold, one key on a line. */
export function writeYaml(document: object): string {
  return stringify(document)
}

function readYaml(text: string): { value?: unknown; faults: string[] } {
  const document = parseDocument(text)
  // The first line says what and where; a drawing of the place follows.
  if (document.errors.length > 0)
    return { faults: document.errors.map(({ message }) => message.replace(/:?\n[^]*/, '')) }
  try {
    return { value: document.toJS(), faults: [] }
  } catch (error) {
    return { faults: [messageOf(error)] }
  }
}

function milliseconds(text: string): number {
  const [, digits = '', unit = ''] = /^(\d+)(\w+)$/.exec(text) ?? []
  const factor: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }
  return Number(digits) * (factor[unit] ?? 0)
}
