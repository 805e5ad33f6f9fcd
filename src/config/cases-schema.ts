import { z } from 'zod'
import { duration } from './yaml-file.ts'

/** A YAML number would lose digits; whole ones up to a bound do not. */
const units = z.union([
  z.string().regex(/^\d{1,30}(\.\d{1,38})?$/, 'is no amount: write it like "1000" or "0.5"'),
  z.int().min(0).transform(String),
])

/** How people work on mismatches. */
export const casesSection = z
  .strictObject({
    /** Amounts in units of the asset, above which a decision about money takes two people. What is not listed always does. */
    secondPersonAbove: z.record(z.string(), units).default({}),
  })
  .prefault({})

/** Which mismatches call for people. */
export const alertsSection = z
  .strictObject({
    /** A loss up to this calls for nobody: amounts in units of the asset. An asset that is not listed has no such limit. */
    lossAbove: z.record(z.string(), units).default({}),
    after: duration.prefault('5m'),
    causeWithin: duration.prefault('1h'),
  })
  .prefault({})

type NetworkSymbols = { name: string; assets: readonly { symbol: string }[] }

/** The keys of limits that name no asset of these networks: they would never apply. */
export function unknownLimits(
  limits: Readonly<Record<string, string>>,
  networks: readonly NetworkSymbols[],
): string[] {
  const known = networks.flatMap(({ name, assets }) => assets.map(({ symbol }) => `${name}/${symbol}`))
  return Object.keys(limits).filter((key) => !known.includes(key))
}
