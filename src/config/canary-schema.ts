import { z } from 'zod'
import { duration } from './yaml-file.ts'

const httpUrl = z.url({ protocol: /^https?$/, error: 'is no address of the form http:// or https://' })
const every = duration.refine((ms) => ms >= 5000, 'is less than 5s')
const amount = z.string().regex(/^\d{1,30}(\.\d{1,38})?$/, 'is no amount: write it in quotes, like "0.01"')

/** Test webhooks and deposits that the program sends to itself, to check that both arrive. Off by default. */
export const canarySection = z
  .strictObject({
    /** A webhook of our own, sent to the public address. */
    webhooks: z
      .strictObject({
        url: httpUrl.refine(hasNoPassword, 'holds a user or a password: it is sent as it is'),
        every: every.prefault('1m'),
        timeout: duration.refine((ms) => ms > 0 && ms <= 30_000, 'is not within 30s').prefault('10s'),
      })
      .nullable()
      .default(null),
    /** A payment to one of our own owners, at most one per network. */
    deposits: z
      .array(
        z.strictObject({
          network: z.string().min(1),
          /** Label of an asset of the network. */
          asset: z.string().min(1),
          amount,
          owner: z.strictObject({ kind: z.enum(['channel', 'stable_wallet']), id: z.string().min(1) }),
          every: every.prefault('6h'),
          within: duration.refine((ms) => ms > 0, 'is no time at all').prefault('2h'),
          /** Without it, another party pays, and the canary only watches. */
          keyFile: z.string().min(1).optional(),
          /** Highest fee on EVM networks, in units of the native asset. */
          feeMax: amount.optional(),
        }),
      )
      .default([]),
  })
  .prefault({})

export type CanarySection = z.output<typeof canarySection>

function hasNoPassword(text: string): boolean {
  const { username = '', password = '' } = URL.parse(text) ?? {}
  return username === '' && password === ''
}
