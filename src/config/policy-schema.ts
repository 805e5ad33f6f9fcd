import { z } from 'zod'
import { type ClaimStatus, claimStatuses } from '../core/evidence.ts'
import { plainPolicy, requiredCells } from '../core/policy.ts'
import { duration } from './yaml-file.ts'

const networkName = z.string().min(1)
const assetName = z.string().regex(/^[^/]+\/[^/]+$/, {
  error: 'must be network/SYMBOL or network/contract',
  abort: true,
})

/** Omitted fields match everything. */
export const routeMatch = z.strictObject({
  service: z.string().min(1).optional(),
  owner: z
    .strictObject({ kind: z.enum(['channel', 'stable_wallet']).optional(), id: z.string().min(1).optional() })
    .default({}),
  network: z.strictObject({ in: networkName.optional(), out: networkName.optional() }).default({}),
  asset: z.strictObject({ in: assetName.optional(), out: assetName.optional() }).default({}),
})

export type RouteMatch = z.output<typeof routeMatch>

const amountForm = 'must be an amount in quotes, like "0.01"'

/** In units of the asset. Quotes keep every digit of a fraction; parsers round a YAML number. */
const amount = z
  .union([z.string(), z.int().transform(String)], amountForm)
  .refine((text) => /^\d{1,78}(\.\d{1,38})?$/.test(text), { error: amountForm, abort: true })
const bps = z.int().min(0).max(10_000)

const fee = z.discriminatedUnion('model', [
  z.strictObject({ model: z.literal('stated') }),
  z.strictObject({ model: z.literal('fixed'), amount }),
  z.strictObject({ model: z.literal('bps'), bps }),
  z
    .strictObject({ model: z.literal('band'), lowBps: bps, highBps: bps, sample: z.int().min(1) })
    .refine(({ lowBps, highBps }) => lowBps <= highBps, 'needs a lowBps of at most its highBps'),
])

const fields = z.strictObject({
  webhookWithin: duration,
  /** Every deposit would otherwise miss a webhook for each other status. */
  webhookStatuses: z.array(z.enum(claimStatuses)),
  apiWithin: duration,
  chainWithin: duration,
  reportWithin: duration,
  settlementWithin: duration,
  tolerance: z.strictObject({ amount: amount.optional(), bps: bps.default(0) }),
  fee,
  required: z
    .array(z.enum(requiredCells))
    .refine(
      (cells) => plainPolicy.required.every((cell) => cells.includes(cell)),
      `must include ${plainPolicy.required.join(', ')}: nothing is booked without them`,
    ),
  creditRequires: z.array(z.enum(requiredCells)),
  minimum: amount.nullable(),
  supported: z.boolean(),
  stuckAfter: duration,
  clockSkew: duration,
  refundWithin: duration,
  acceptsUnnamed: z.boolean(),
})

const overrides = fields.partial()

const minuteMs = 60_000

const defaults = {
  webhookWithin: 10 * minuteMs,
  webhookStatuses: [...claimStatuses] as ClaimStatus[],
  apiWithin: 15 * minuteMs,
  chainWithin: 60 * minuteMs,
  reportWithin: 30 * minuteMs,
  settlementWithin: 60 * minuteMs,
  tolerance: { bps: 0 },
  fee: { model: 'stated' as const },
  required: [...plainPolicy.required],
  creditRequires: [...plainPolicy.creditRequires],
  minimum: null,
  supported: true,
  stuckAfter: plainPolicy.stuckAfterMs,
  clockSkew: plainPolicy.clockSkewMs,
  refundWithin: plainPolicy.refundWithinMs,
  acceptsUnnamed: false,
}

export const policySection = overrides
  .extend({
    routes: z.array(overrides.extend({ match: routeMatch })).default([]),
    secondPerson: z.boolean().default(true),
  })
  .prefault({})
  .transform((section) => ({ ...defaults, ...section }))

export type PolicySection = z.output<typeof policySection>
export type PolicyFields = z.output<typeof overrides>
