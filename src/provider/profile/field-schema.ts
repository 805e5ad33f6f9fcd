import { z } from 'zod'
import { refuseIn } from '../../config/yaml-file.ts'

/**
 * Names joined by dots. A number is an index into a list, from the end if negative (`timeline.-1.status`). A
 * leading `$.` starts at the payload instead of the record.
 */
const anyPath = z.string().regex(/^[^.\s]+(\.[^.\s]+)*$/, 'must be a path: names joined by dots')

const eachItem = /\.\*(?=\.|$)/g

export const pathSchema = anyPath.refine(
  (path) => !path.split('.').includes('*'),
  'must name one value: only paths of record.settlement may have *',
)

/** May name each item of a list: `payouts.*.tx`. */
export const itemPathSchema = anyPath.refine(
  (path) => path.split('.').filter((name) => name === '*').length <= 1 && !path.startsWith('*'),
  'must have at most one *, after the name of a list',
)

/** The path of the list, if the path names each item of one. */
export function listBefore(path: string): string | null {
  const [list, rest] = path.split(eachItem)
  return list === undefined || rest === undefined ? null : list
}

const presence = z.enum(['required', 'nullable', 'optional'])

/**
 * `nullable` may be null, `optional` may also be missing. Defaults to `optional` if the field has an
 * `otherwise`. A violation is a `schema_drift`.
 */
export type FieldPresence = z.output<typeof presence>

function base(usual: FieldPresence, path = pathSchema) {
  return {
    /** The first path with a value counts. */
    paths: z.preprocess((value) => (typeof value === 'string' ? [value] : value), z.array(path)),
    presence: presence.default(usual),
    /** Values that mean null, such as an empty text. */
    absent: z.array(z.string()).default([]),
    /** In our words, if the field is null or missing; without paths, a constant. */
    otherwise: z.string().min(1).optional(),
  }
}

function field<Shape extends z.ZodRawShape>(shape: Shape) {
  const long = z.strictObject(shape, { error: expectation }).superRefine((value, context) => {
    const { paths, otherwise } = value as unknown as { paths: readonly string[]; otherwise?: string }
    if (paths.length === 0 && otherwise === undefined)
      refuseIn(context)(['paths'], 'must not be empty without "otherwise"')
  })
  return z.preprocess((value) => {
    if (typeof value === 'string' || Array.isArray(value)) return { paths: value }
    if (typeof value !== 'object' || value === null) return value
    return { paths: [], ...('otherwise' in value && { presence: 'optional' }), ...value }
  }, long)
}

function expectation({ code, input }: z.core.$ZodRawIssue): string | undefined {
  const isOther = code === 'invalid_type' && input !== undefined
  return isOther ? 'must be a path, a list of paths, or keys with values' : undefined
}

export const textField = (usual: FieldPresence, path = pathSchema) => field(base(usual, path))

/** A word ending in `*` covers every word with that prefix. */
export function wordField<Word extends string>(words: readonly [Word, ...Word[]], usual: FieldPresence) {
  const meaning = z.enum(words)
  return field({
    ...base(usual),
    words: z.record(z.string(), meaning).default({}),
    otherwise: meaning.optional(),
  })
}

export const timeField = (usual: FieldPresence) =>
  field({
    ...base(usual),
    /** ISO 8601 with a zone, in UTC without one, or seconds or milliseconds since 1970. */
    as: z.enum(['iso', 'utc', 's', 'ms']).default('iso'),
  })

export const assetField = (usual: FieldPresence, path = pathSchema) =>
  field({
    ...base(usual, path),
    /** For values that `assets` does not list. `otherwise: native` is the network's native coin. */
    as: z.enum(['contract', 'symbol']).default('contract'),
  })

export const amountField = (usual: FieldPresence, path = pathSchema) =>
  field({
    ...base(usual, path),
    as: z.enum(['base-units', 'units']).default('base-units'),
    /** If they differ from those of the asset: a path or a number. */
    decimals: z.union([path, z.int().min(0).max(38)]).optional(),
  })

export type TextField = z.output<ReturnType<typeof textField>>
export type TimeField = z.output<ReturnType<typeof timeField>>
export type AssetField = z.output<ReturnType<typeof assetField>>
export type AmountField = z.output<ReturnType<typeof amountField>>
export type WordField<Word extends string> = TextField & { words: Record<string, Word> }
