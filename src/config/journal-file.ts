import { z } from 'zod'
import { isReason } from '../ledger/draft-journal.ts'
import { parseYaml } from './yaml-file.ts'

const text = z.string('must be text in quotes')
const words = text.refine(isReason, 'must be one line of 1 to 1000 characters')
const account = text.max(300)
const quoted = 'must be an amount in quotes, like "12.50"'
const amount = z
  .union([z.string(), z.int().transform(String)], quoted)
  .refine((value) => !value.startsWith('-'), { error: 'is negative: exchange debit and credit', abort: true })
  .refine((value) => /^\d{1,78}(\.\d{1,38})?$/.test(value), { error: quoted, abort: true })
  .refine((value) => !/^[0.]+$/.test(value), 'is zero')

const line = z
  .strictObject({ debit: account.optional(), credit: account.optional(), asset: text, amount })
  .refine(({ debit, credit }) => debit !== undefined || credit !== undefined, 'needs a debit or a credit')

const schema = z.strictObject({
  /** A day means its beginning in UTC. */
  date: text.transform(dayOrTime),
  reason: words,
  /** Each reference is booked once. */
  reference: text
    .regex(/^[A-Za-z0-9][A-Za-z0-9._/-]{0,99}$/, 'must be letters, digits, ".", "_", "/" and "-"')
    .optional(),
  /** Our number, or the service's id. */
  deposit: z
    .union([text, z.int().positive().transform(String)], 'must be the number or the id of a deposit')
    .optional(),
  mismatch: z.int('must be the number of a mismatch').positive().optional(),
  lines: z.array(line).min(1).max(1000),
})

export type JournalFile = z.output<typeof schema>

/** YAML or JSON. Every fault contains its position; unknown keys are rejected. */
export function parseJournalFile(content: string): { file: JournalFile | null; faults: string[] } {
  const { file, faults } = parseYaml(schema, content)
  return { file, faults: faults.map(countFromOne) }
}

/** People count the lines of a journal from 1. */
function countFromOne(fault: string): string {
  const [, before = '', place, after = ''] = /^((?:line \d+, )?)lines\.(\d+)([.:][^]*)$/.exec(fault) ?? []
  if (place === undefined) return fault
  return `${before}line ${Number(place) + 1} of the journal${after.replace(/^\./, ', ')}`
}

const firstBlock = new Date('2009-01-01T00:00:00Z')

function dayOrTime(value: string, context: z.RefinementCtx): Date {
  const [, day = '', time] =
    /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:\d{2}))?$/.exec(value) ?? []
  const midnight = new Date(`${day}T00:00:00Z`)
  const read = time === undefined ? midnight : new Date(value)
  // `Date` reads a day that its month does not have as one of the next month, or not at all.
  const isDay = !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(day)
  if (day === '' || !isDay || Number.isNaN(read.getTime()))
    context.addIssue('must be a date like 2026-01-31, or a time like 2026-01-31T15:00:00Z')
  else if (read < firstBlock) context.addIssue('is before 2009, when the first block of any chain was made')
  return read
}
