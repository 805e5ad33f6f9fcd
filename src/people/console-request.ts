import { z } from 'zod'
import { writeOffAccounts } from '../core/evidence.ts'
import { type JsonValue, personSchema } from './decision.ts'

const reason = z.string().trim().min(1).max(500)
const number = z.string().regex(/^[1-9]\d{0,17}$/)
const month = z.string().regex(/^\d{4}-(?:0[1-9]|1[0-2])$/)

const time = z.iso.datetime()
const text = z.string().min(1).max(500)
const owner = z.strictObject({ kind: z.enum(['channel', 'stable_wallet']), id: text })

const journal = z.strictObject({
  date: time,
  reason,
  reference: text.optional(),
  deposit: text.optional(),
  mismatch: z.int().positive().optional(),
  lines: z
    .array(z.strictObject({ debit: text.optional(), credit: text.optional(), asset: text, amount: text }))
    .min(1)
    .max(1000),
})

const addedOwner = z.strictObject({
  owner,
  forward: z.strictObject({ network: text, asset: text, recipient: text }).nullable(),
  createdAt: time.nullable(),
  deposits: z.array(z.strictObject({ network: text, address: text, validFrom: time.nullable() })).min(1),
})

const addresses = z.discriminatedUnion('action', [
  z.strictObject({ action: z.literal('add'), owners: z.array(addedOwner).min(1) }),
  z.strictObject({
    action: z.literal('end'),
    owner,
    network: text.nullable(),
    until: time.nullable(),
    reason,
  }),
])

const schema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('person'), change: personSchema }),
  z.object({ kind: z.literal('journal'), change: journal }),
  z.object({ kind: z.literal('reversal'), change: z.strictObject({ journal: number, reason }) }),
  z.object({ kind: z.literal('addresses'), change: addresses }),
  z.object({
    kind: z.literal('write_off'),
    change: z.strictObject({
      mismatch: number,
      verdict: z.literal('write_off'),
      account: z.enum(writeOffAccounts),
      reason,
    }),
  }),
  z.object({
    kind: z.literal('resolve'),
    change: z.strictObject({ mismatches: z.array(number).min(1).max(500), reason }),
  }),
  z.object({
    kind: z.literal('match'),
    change: z.strictObject({
      deposit: number,
      transfer: z.string().regex(/^[^\s/]+\/[^\s/]+\/[^\s/]+$/),
      role: z.enum(['deposit', 'recipient']),
      verdict: z.enum(['together', 'apart']),
      reason,
    }),
  }),
  z.object({
    kind: z.literal('policy'),
    change: z.strictObject({ rules: z.record(z.string(), z.json()) }),
  }),
  z.object({
    kind: z.literal('close'),
    change: z.strictObject({
      action: z.enum(['soft_closed', 'closed']),
      forced: z.literal(false),
      period: month,
      reason: reason.nullable(),
    }),
  }),
  z.object({
    kind: z.literal('reopen'),
    change: z.strictObject({
      action: z.literal('reopened'),
      forced: z.literal(false),
      period: month,
      reason,
    }),
  }),
])

/** What people may request in the console. */
export type ConsoleRequestContent = { kind: z.infer<typeof schema>['kind']; change: JsonValue }

/** Null for all other changes, also for those that only the command line makes. */
export function readConsoleRequest(request: { kind: string; change: unknown }): ConsoleRequestContent | null {
  return (schema.safeParse(request).data as ConsoleRequestContent | undefined) ?? null
}
