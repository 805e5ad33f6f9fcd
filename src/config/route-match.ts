import { z } from 'zod'

const networkName = z.string().min(1)
const assetName = z.string().regex(/^[^/]+\/[^/]+$/, {
  error: 'is no asset: write it as network/SYMBOL, or network/contract',
  abort: true,
})

/** Omitted fields match everything. */
export const match = z.strictObject({
  owner: z
    .strictObject({ kind: z.enum(['channel', 'stable_wallet']).optional(), id: z.string().min(1).optional() })
    .default({}),
  network: z.strictObject({ in: networkName.optional(), out: networkName.optional() }).default({}),
  asset: z.strictObject({ in: assetName.optional(), out: assetName.optional() }).default({}),
})

export type RouteMatch = z.output<typeof match>
