import { validate } from 'node-cron'
import { parseDocument } from 'yaml'
import { z } from 'zod'
import { type Address, type Family, parseAddress } from '../core/asset.ts'
import { messageOf } from '../core/errors.ts'
import { knownNetworks } from './known-networks.ts'

const duration = z
  .string()
  .regex(/^\d{1,6}(ms|s|m|h)$/, 'is no duration: write it like 500ms, 30s, 10m or 2h')
  .transform(milliseconds)

const cron = z.string().refine(validate, 'is no cron expression, like "*/5 * * * * *" for every five seconds')

const symbol = z.string().min(1).max(20)
const decimals = z.int().min(0).max(38)

const network = z
  .strictObject({
    name: z.string().regex(/^[a-z][a-z0-9_]{0,30}$/, 'is no network name: lower-case letters, digits and _'),
    family: z.enum(['evm', 'solana']),
    chainId: z.int().positive().nullable().default(null),
    /** Block or slot at which the first scan begins; without it, at what is final then. */
    startHeight: z.int().min(0).optional(),
    assets: z.array(z.strictObject({ symbol, contract: z.string(), decimals })).min(1),
  })
  .superRefine((value, context) => {
    if (value.family === 'evm' && value.chainId === null) {
      context.addIssue({
        code: 'custom',
        path: ['chainId'],
        message: 'is missing: an EVM network is known by it',
      })
    }
    const codes = value.assets.map(({ contract }) =>
      contract === 'native' ? contract : addressOf(value.family, contract),
    )
    for (const [place, code] of codes.entries()) {
      if (code !== null && codes.indexOf(code) === place) continue
      const message =
        code === null ? 'is neither "native" nor an address of this family' : 'is described twice'
      context.addIssue({ code: 'custom', path: ['assets', place, 'contract'], message })
    }
  })

const networks = z
  .array(network)
  .min(1, 'is empty: no chain could be read')
  .superRefine((value, context) => {
    for (const [place, { name }] of value.entries()) {
      if (value.findIndex((one) => one.name === name) === place) continue
      context.addIssue({ code: 'custom', path: [place, 'name'], message: `${name} is described twice` })
    }
  })

/** The settings file: what is no secret and no address of a server. Everything has a default. */
const schema = z
  .strictObject({
    networks: networks.default(() => structuredClone(knownNetworks) as z.output<typeof network>[]),
    service: z
      .strictObject({
        /** Addresses the service forwards from, by network. */
        senders: z.record(z.string(), z.array(z.string())).default({}),
        /** What a StableWallet is credited in. */
        credit: z.strictObject({ symbol, decimals }).prefault({ symbol: 'USDC', decimals: 6 }),
      })
      .prefault({}),
    policy: z
      .strictObject({
        webhookWithin: duration.prefault('10m'),
        apiWithin: duration.prefault('15m'),
        chainWithin: duration.prefault('60m'),
        reportWithin: duration.prefault('30m'),
        settlementWithin: duration.prefault('60m'),
      })
      .prefault({}),
    schedule: z
      .strictObject({
        scan: cron.default('*/5 * * * * *'),
        poll: cron.default('*/15 * * * * *'),
        sweep: cron.default('*/5 * * * * *'),
        /** How far back beyond the oldest open deposit each poll reads, so that a record that changed late is seen. */
        pollOverlap: duration.prefault('1h'),
      })
      .prefault({}),
  })
  .superRefine(({ networks: known, service: { senders } }, context) => {
    for (const [name, addresses] of Object.entries(senders)) {
      const family = known.find((one) => one.name === name)?.family
      const refuse = (path: (string | number)[], message: string) =>
        context.addIssue({ code: 'custom', path: ['service', 'senders', name, ...path], message })
      if (family === undefined) {
        refuse([], 'is no network of these settings')
        continue
      }
      for (const [place, address] of addresses.entries()) {
        if (addressOf(family, address) === null) refuse([place], 'is no address of this network')
      }
    }
  })

export type SettingsFile = z.output<typeof schema>

/** Reads the file's text. Every fault is named with its place; nothing unknown is let through. */
export function parseSettingsFile(text: string): { file: SettingsFile | null; faults: string[] } {
  const { value, faults } = readYaml(text)
  if (faults.length > 0) return { file: null, faults }
  const result = schema.safeParse(value ?? {})
  if (result.success) return { file: result.data, faults: [] }
  return {
    file: null,
    faults: result.error.issues.map(({ path, message }) => `${path.join('.') || 'the file'}: ${message}`),
  }
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

function addressOf(family: Family, text: string): Address | null {
  try {
    return parseAddress(family, text)
  } catch {
    return null
  }
}

function milliseconds(text: string): number {
  const [, digits = '', unit = ''] = /^(\d+)(\w+)$/.exec(text) ?? []
  const factor: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }
  return Number(digits) * (factor[unit] ?? 0)
}
