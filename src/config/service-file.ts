import { z } from 'zod'
import { networkList } from './network-schema.ts'
import { duration, parseYaml } from './yaml-file.ts'

/** In quotes, for YAML would read a number that rounds. */
const decimal = z.string('is no decimal in quotes, like "3000.5"').regex(/^\d{1,30}(\.\d{1,30})?$/, {
  error: 'is no plain decimal, like "3000.5"',
})
const basisPoints = z.int().min(0).max(9999)
const some = duration.refine((time) => time > 0, 'is no time at all')
const count = z.int().positive()

/** The settings file of the deposit service: what is no secret and no address of a server. All has a default. */
const schema = z.strictObject({
  networks: networkList,
  quotes: z
    .strictObject({
      /** By pair: how many whole units of the second asset one whole unit of the first is worth. */
      prices: z.record(z.string(), decimal).default({}),
      feeBasisPoints: basisPoints.default(0),
      spreadBasisPoints: basisPoints.default(0),
      /** How often the source of prices is read, and for how long what it said is used. */
      readEvery: some.prefault('10s'),
      staleAfter: some.prefault('1m'),
    })
    .prefault({}),
  sweep: z
    .strictObject({
      enabled: z.boolean().default(true),
      /** By asset, like `base/USDC`: what must lie at an address before it is worth a sweep, in whole units. */
      minimums: z.record(z.string(), decimal).default({}),
    })
    .prefault({}),
  limits: z
    .strictObject({
      requestsPerSecond: count.default(1000),
      requestsAtOnce: count.default(5000),
      headersWithin: some.prefault('10s'),
      requestWithin: some.prefault('30s'),
      idle: some.prefault('60s'),
      connections: count.default(1000),
    })
    .prefault({}),
  webhooks: z.strictObject({ allowPrivate: z.boolean().default(false) }).prefault({}),
  pollEvery: some.prefault('2s'),
  replaceAfter: some.prefault('2m'),
})

export type ServiceFile = z.output<typeof schema>

/** Reads the file's text. Every fault is named with its place; nothing unknown is let through. */
export function parseServiceFile(text: string): { file: ServiceFile | null; faults: string[] } {
  return parseYaml(schema, text)
}
