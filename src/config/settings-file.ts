import { isIPv4, isIPv6 } from 'node:net'
import { validate } from 'node-cron'
import { z } from 'zod'
import { type Address, type Asset, assetKey } from '../core/asset.ts'
import { defaultService, stableWalletNetwork } from '../core/evidence.ts'
import type { ServiceStart } from '../core/policy.ts'
import { readVerifierKey } from '../ledger/checkpoint.ts'
import { costMethods, costPools } from '../ledger/lots.ts'
import { accountsSection, checkOwnFunds, readAccounts } from './accounts.ts'
import { canarySection } from './canary.ts'
import { addressOf, assetsOf, decimals, networkList, symbol, unpinnedOf } from './network-schema.ts'
import { notificationsSection } from './notifications.ts'
import { type AssetCatalog, readPolicies } from './policies.ts'
import { policySection } from './policy-schema.ts'
import { serviceAuthSection } from './service-auth-schema.ts'
import { signInSection } from './sign-in.ts'
import { type SchemeName, webhookSection, withDefaultScheme, withScheme } from './webhook-settings.ts'
import { duration, parseYaml, type Refuse, refuseIn, time } from './yaml-file.ts'

/** YAML rounds fractions and large numbers; whole numbers up to a limit are exact. */
const units = z.union([
  z.string().regex(/^\d{1,30}(\.\d{1,38})?$/, 'must be an amount, like "1000" or "0.5"'),
  z.int().min(0).transform(String),
])

const casesSection = z
  .strictObject({
    /** In units of the asset. A decision about more money, or about an asset not listed, takes two people. */
    secondPersonAbove: z.record(z.string(), units).default({}),
  })
  .prefault({})

/** If so, who adds to the address book or ends an entry names a second person. */
const addressBookSection = z.strictObject({ secondPerson: z.boolean().default(false) }).prefault({})

const alertsSection = z
  .strictObject({
    /** In units of the asset. An asset not listed has no such limit. */
    lossAbove: z.record(z.string(), units).default({}),
    after: duration.prefault('5m'),
  })
  .prefault({})

const network = z.string().refine(isNetwork, 'must be an address, or a network like 10.0.0.0/8 or fd00::/8')

/** `X-Forwarded-For` of these is trusted. */
const intakeSection = z.strictObject({ trustedProxies: z.array(network).default([]) }).prefault({})

/** Where events are sent. */
const eventsSection = z
  .strictObject({
    /** Endpoints may be at private, loopback and link-local addresses. */
    allowPrivate: z.boolean().default(false),
  })
  .prefault({})

function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const bitsMax = isIPv4(address) ? 32 : isIPv6(address) ? 128 : -1
  if (bitsMax < 0 || rest.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= bitsMax)
}

const valuationSection = z
  .strictObject({
    currency: z.string().regex(/^[A-Z]{3}$/, 'must be three capital letters, like EUR'),
    maxAge: duration.refine((ms) => ms > 0, 'must be longer than 0').prefault('24h'),
    /** Patterns of the accounts with own funds, which have a cost basis. */
    own: z.array(z.string().max(300)).default([]),
    method: z.enum(costMethods).default('fifo'),
    pool: z.enum(costPools).default('account'),
    /** What a deposit became gives the price of what was paid. */
    conversionRates: z.boolean().default(false),
    /** Addresses of price files, read with each audit. */
    prices: z
      .array(
        z
          .url({ protocol: /^https?$/, error: 'must be an address of the form http:// or https://' })
          .refine(
            (text) => !/^\w+:\/\/[^/?#]*@/.test(text),
            'must have no user and no password; a key can be in the query',
          ),
      )
      .default([]),
  })
  .nullable()
  .default(null)

const witnessKey = z.string().transform((text, context) => {
  const key = readVerifierKey(text)
  if (key?.kind === 'witness') return key
  context.addIssue('must be the public key of a witness, as "bin/depositd witness" prints it')
  return z.NEVER
})

const ledgerSection = z
  .strictObject({
    witnesses: z
      .array(
        z.strictObject({
          url: z.url({ protocol: /^https?$/, error: 'must be an address of the form http:// or https://' }),
          key: witnessKey,
        }),
      )
      .default([]),
  })
  .prefault({})

const cron = z
  .string()
  .refine(validate, 'must be a cron expression, like "*/5 * * * * *" for every five seconds')

/** Of any service. */
const sharedKeys = {
  /** The service forwards from these, by network. */
  senders: z.record(z.string(), z.array(z.string())).default({}),
  profile: z.string().min(1).default('depositd'),
  timeout: duration.prefault('15s'),
  auth: serviceAuthSection,
  /** Deposits of which the service stated nothing since then are not covered. */
  historySince: time.nullable().default(null),
  /** Steps of deposits before then need no webhook, such as those before the service was connected. */
  webhooksSince: time.nullable().default(null),
  /** If so, the service is not called. Its webhooks are still stored and applied. */
  paused: z.boolean().default(false),
}

const serviceName = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,30}$/, 'must be a name of lower-case letters, digits and hyphens')
  .refine((name) => name !== defaultService, 'is the name of the service that SERVICE_URL names')
  // In the environment, NAME_FILE is the path of a file with NAME.
  .refine((name) => !name.endsWith('file'), 'must not end in "file"')

/** Besides the one that `SERVICE_URL` names. */
const servicesSection = z
  .record(
    z.string(),
    z.strictObject({
      url: z.url({ protocol: /^https?$/, error: 'must be an address of the form http:// or https://' }),
      ...sharedKeys,
      webhooks: z.preprocess(withDefaultScheme, webhookSection),
    }),
  )
  .default({})

/** Settings that are neither secrets nor server URLs. Everything has a default. */
const schema = z
  .strictObject({
    networks: networkList,
    service: z
      .strictObject({
        ...sharedKeys,
        /** The asset in which a StableWallet is credited. */
        credit: z.strictObject({ symbol, decimals }).prefault({ symbol: 'USDC', decimals: 6 }),
      })
      .prefault({}),
    services: servicesSection,
    webhooks: webhookSection,
    intake: intakeSection,
    events: eventsSection,
    cases: casesSection,
    addressBook: addressBookSection,
    alerts: alertsSection,
    policy: policySection,
    accounts: accountsSection,
    valuation: valuationSection,
    ledger: ledgerSection,
    canary: canarySection,
    notifications: notificationsSection,
    signIn: signInSection,
    /** JSON-RPC calls to each node for reading back what addresses received before they were imported. */
    history: z.strictObject({ requestsPerSecond: z.number().min(0.1).max(1000).default(20) }).prefault({}),
    schedule: z
      .strictObject({
        scan: cron.default('*/5 * * * * *'),
        backfill: cron.default('*/30 * * * * *'),
        poll: cron.default('*/15 * * * * *'),
        sweep: cron.default('*/5 * * * * *'),
        audit: cron.default('0 0 * * * *'),
        balances: cron.default('30 */15 * * * *'),
        seal: cron.default('*/20 * * * * *'),
        /** How far before the oldest open deposit each poll reads, so that late changes of records are seen. */
        pollOverlap: duration.prefault('1h'),
        pollYoung: duration.prefault('1h'),
        pollQuiet: duration.prefault('1m'),
        /** How often all records are read, so that unseen changes and deletions are found. */
        pollAll: duration.prefault('6h'),
      })
      .prefault({}),
  })
  .superRefine(({ networks: known, cases, alerts, service }, context) => {
    const refuse = refuseIn(context)
    for (const key of unknownLimits(cases.secondPersonAbove, known))
      if (key !== 'all')
        refuse(
          ['cases', 'secondPersonAbove', key],
          'must be "all" or an asset of the settings, like base/USDC',
        )
    const credited = { name: stableWalletNetwork, assets: [service.credit] }
    for (const key of unknownLimits(alerts.lossAbove, [...known, credited]))
      refuse(['alerts', 'lossAbove', key], 'must be an asset of the settings, like base/USDC')
  })
  .superRefine(({ networks: known, service: ofDefault, services }, context) => {
    checkSenders(ofDefault, known, refuseIn(context, 'service', 'senders'))
    for (const [name, one] of Object.entries(services)) {
      const refuse = refuseIn(context, 'services', name)
      for (const { message } of serviceName.safeParse(name).error?.issues ?? []) refuse([], message)
      checkSenders(one, known, refuseIn(context, 'services', name, 'senders'))
    }
  })
  .superRefine((file, context) => {
    readPolicies(file.policy, worldOf(file), refuseIn(context, 'policy'))
    const { known } = readAccounts(file.accounts, worldOf(file), refuseIn(context, 'accounts'))
    for (const [place, pattern] of (file.valuation?.own ?? []).entries())
      checkOwnFunds(pattern, known, refuseIn(context, 'valuation', 'own', place))
  })

export type SettingsFile = z.output<typeof schema>

type Senders = Pick<SettingsFile['service'], 'senders'>

function checkSenders({ senders }: Senders, known: SettingsFile['networks'], refuse: Refuse): void {
  for (const [name, addresses] of Object.entries(senders)) {
    const family = known.find((one) => one.name === name)?.family
    if (family === undefined) {
      refuse([name], 'must be a network of the settings')
      continue
    }
    for (const [place, address] of addresses.entries())
      if (addressOf(family, address) === null) refuse([name, place], 'must be an address of this network')
  }
}

export function startOf({
  historySince,
  webhooksSince,
}: Partial<Pick<SettingsFile['service'], 'historySince' | 'webhooksSince'>>): ServiceStart {
  return {
    historySinceMs: historySince?.getTime() ?? null,
    webhooksSinceMs: webhooksSince?.getTime() ?? null,
  }
}

export function worldOf({
  networks: known,
  service,
  services,
}: Pick<SettingsFile, 'networks' | 'service' | 'services'>): AssetCatalog {
  return {
    services: [
      { name: defaultService, start: startOf(service) },
      ...Object.entries(services).map(([name, one]) => ({ name, start: startOf(one) })),
    ],
    networks: known,
    assets: [...known.flatMap((entry) => [...assetsOf(entry), ...unpinnedOf(entry)]), creditAssetOf(service)],
  }
}

export function creditAssetOf({ credit }: Pick<SettingsFile['service'], 'credit'>): Asset {
  const key = assetKey(stableWalletNetwork, credit.symbol as Address)
  return { key, network: stableWalletNetwork, ...credit }
}

/**
 * Every fault contains its position; unknown keys are rejected.
 * @param scheme if the file names none
 */
export function parseSettingsFile(
  text: string,
  scheme: SchemeName = 'standard-webhooks',
): { file: SettingsFile | null; faults: string[] } {
  return parseYaml(
    z.preprocess((document) => withScheme(document, scheme), schema),
    text,
  )
}

type NetworkSymbols = { name: string; assets: readonly { symbol: string }[] }

/** Limits whose asset is in none of these networks never apply. */
function unknownLimits(
  limits: Readonly<Record<string, string>>,
  networks: readonly NetworkSymbols[],
): string[] {
  const known = networks.flatMap(({ name, assets }) => assets.map((asset) => `${name}/${asset.symbol}`))
  return Object.keys(limits).filter((key) => !known.includes(key))
}
