import { validate } from 'node-cron'
import { z } from 'zod'
import { type Address, type Asset, assetKey } from '../core/asset.ts'
import { stableWalletNetwork } from '../core/evidence.ts'
import { readAccounts } from './accounts.ts'
import { accountsSection } from './accounts-schema.ts'
import { canarySection } from './canary.ts'
import { alertsSection, casesSection, unknownLimits } from './cases-schema.ts'
import { intakeSection } from './intake-schema.ts'
import { addressOf, assetsOf, decimals, networkList, symbol, unpinnedOf } from './network-schema.ts'
import { type AssetCatalog, readPolicies } from './policies.ts'
import { policySection } from './policy-schema.ts'
import { valuationSection } from './valuation-schema.ts'
import { type SchemeName, webhookSection, withScheme } from './webhook-schema.ts'
import { duration, parseYaml } from './yaml-file.ts'

const cron = z.string().refine(validate, 'is no cron expression, like "*/5 * * * * *" for every five seconds')

/** The settings file: settings that are neither secrets nor server URLs. Everything has a default. */
const schema = z
  .strictObject({
    networks: networkList,
    service: z
      .strictObject({
        /** Addresses that the service forwards from, by network. */
        senders: z.record(z.string(), z.array(z.string())).default({}),
        /** The asset in which a StableWallet is credited. */
        credit: z.strictObject({ symbol, decimals }).prefault({ symbol: 'USDC', decimals: 6 }),
        /** Profile by which webhooks and records are parsed: the name of a built-in profile, or the path of a file. */
        profile: z.string().min(1).default('depositd'),
        request: z
          .strictObject({ timeout: duration.prefault('15s'), attempts: z.int().min(1).max(10).default(3) })
          .prefault({}),
      })
      .prefault({}),
    webhooks: webhookSection,
    intake: intakeSection,
    cases: casesSection,
    alerts: alertsSection,
    policy: policySection,
    accounts: accountsSection,
    valuation: valuationSection,
    canary: canarySection,
    schedule: z
      .strictObject({
        scan: cron.default('*/5 * * * * *'),
        backfill: cron.default('*/30 * * * * *'),
        poll: cron.default('*/15 * * * * *'),
        sweep: cron.default('*/5 * * * * *'),
        audit: cron.default('0 0 * * * *'),
        balances: cron.default('30 */15 * * * *'),
        seal: cron.default('15 */10 * * * *'),
        /** How far before the oldest open deposit each poll reads, so that late changes of records are seen. */
        pollOverlap: duration.prefault('1h'),
        /** How long a deposit is young. While any is, every tick reads. */
        pollYoung: duration.prefault('1h'),
        pollQuiet: duration.prefault('1m'),
        /** How often all records are read, so that unseen changes and deletions are found. */
        pollAll: duration.prefault('6h'),
      })
      .prefault({}),
  })
  .superRefine(({ networks: known, cases, alerts, service }, context) => {
    for (const key of unknownLimits(cases.secondPersonAbove, known)) {
      if (key === 'all') continue
      const message = 'is neither "all" nor an asset of these settings, like base/USDC'
      context.addIssue({ code: 'custom', path: ['cases', 'secondPersonAbove', key], message })
    }
    const credited = { name: stableWalletNetwork, assets: [service.credit] }
    for (const key of unknownLimits(alerts.lossAbove, [...known, credited])) {
      const message = 'is no asset of these settings, like base/USDC'
      context.addIssue({ code: 'custom', path: ['alerts', 'lossAbove', key], message })
    }
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
  .superRefine((file, context) => {
    for (const { path, message } of readPolicies(file.policy, worldOf(file)).faults)
      context.addIssue({ code: 'custom', path: ['policy', ...path], message })
    for (const { path, message } of readAccounts(file.accounts, worldOf(file)).faults)
      context.addIssue({ code: 'custom', path: ['accounts', ...path], message })
  })

export type SettingsFile = z.output<typeof schema>

/** Networks and assets that routes can refer to. */
export function worldOf({
  networks: known,
  service,
}: Pick<SettingsFile, 'networks' | 'service'>): AssetCatalog {
  return {
    networks: known,
    assets: [...known.flatMap((entry) => [...assetsOf(entry), ...unpinnedOf(entry)]), creditAssetOf(service)],
  }
}

/** The asset in which a StableWallet is credited. */
export function creditAssetOf({ credit }: Pick<SettingsFile['service'], 'credit'>): Asset {
  const key = assetKey(stableWalletNetwork, credit.symbol as Address)
  return { key, network: stableWalletNetwork, ...credit }
}

/**
 * Parses the file. Every fault contains its position; unknown keys are rejected.
 * @param scheme by which webhooks are signed if the file names none
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
