import { z } from 'zod'
import { duration } from './yaml-file.ts'

/** YAML rounds fractions and large numbers; whole numbers up to a limit are exact. */
const units = z.union([
  z.string().regex(/^\d{1,30}(\.\d{1,38})?$/, 'is no amount: write it like "1000" or "0.5"'),
  z.int().min(0).transform(String),
])

/** How people work on mismatches. */
export const casesSection = z
  .strictObject({
    /**
     * Amounts in units of the asset. A decision about more money takes two people. So does every decision about an
     * asset that is not listed.
     */
    secondPersonAbove: z.record(z.string(), units).default({}),
  })
  .prefault({})

/** Which mismatches alert people. */
export const alertsSection = z
  .strictObject({
    /**
     * A loss up to this amount, in units of the asset, raises no alert. An asset that is not listed has no such limit.
     */
    lossAbove: z.record(z.string(), units).default({}),
    after: duration.prefault('5m'),
    causeWithin: duration.prefault('1h'),
  })
  .prefault({})

type NetworkSymbols = { name: string; assets: readonly { symbol: string }[] }

/** Keys of limits that match no asset of these networks, and so never apply. */
export function unknownLimits(
  limits: Readonly<Record<string, string>>,
  networks: readonly NetworkSymbols[],
): string[] {
  const known = networks.flatMap(({ name, assets }) => assets.map(({ symbol }) => `${name}/${symbol}`))
  return Object.keys(limits).filter((key) => !known.includes(key))
}
