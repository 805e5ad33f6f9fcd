import { dirname, resolve } from 'node:path'
import type { Family, NetworkName, NetworkSettings } from '../core/asset.ts'
import type { ContraRule } from '../core/contra.ts'
import { messageOf } from '../core/errors.ts'
import type { Owner } from '../core/evidence.ts'
import { parseAmount } from '../core/money.ts'
import type { CanarySection } from './canary-schema.ts'
import type { EnvironmentReader } from './environment.ts'

export type CanarySettings = {
  webhooks: { url: string; everyMs: number; timeoutMs: number } | null
  deposits: readonly DepositCanarySettings[]
}

export type DepositCanarySettings = {
  network: NetworkName
  symbol: string
  /** In units of the asset. */
  amount: string
  owner: Owner
  everyMs: number
  withinMs: number
  /** Null where somebody else pays. */
  keyPath: string | null
}

type Around = { networks: readonly NetworkSettings[]; readText: (path: string) => string }

/** What of the settings file bears on canaries. */
type Sections = { canary: CanarySection; webhooks: { scheme: string } }

/**
 * Holds the section against the networks and the scheme that it relies on, and looks at the files of keys.
 * @param file null where it has faults: what it asks for is not known then.
 */
export function readCanary(reader: EnvironmentReader, file: Sections | null, around: Around): CanarySettings {
  if (file === null) return { webhooks: null, deposits: [] }
  const { webhooks, deposits } = file.canary
  const refuse = (fault: string) => void reader.faults.push(`DEPOSITD_CONFIG, canary.${fault}`)
  if (webhooks !== null && file.webhooks.scheme === 'public-key')
    refuse("webhooks: what the scheme public-key signs with is the sender's alone, so that we cannot sign")
  const folder = dirname(reader.optional('DEPOSITD_CONFIG') ?? '')
  const read = deposits.map((entry, place): DepositCanarySettings => {
    const { network, asset, amount, owner, every, within, keyFile } = entry
    const keyPath = keyFile === undefined ? null : resolve(folder, keyFile)
    const faults = faultsOf(entry, around, keyPath)
    if (deposits.findIndex((one) => one.network === network) !== place)
      faults.push(`network: ${network} has a canary already`)
    for (const fault of faults) refuse(`deposits.${place}.${fault}`)
    const times = { everyMs: every, withinMs: within }
    return { network: network as NetworkName, symbol: asset, amount, owner, ...times, keyPath }
  })
  return {
    webhooks: webhooks && { url: webhooks.url, everyMs: webhooks.every, timeoutMs: webhooks.timeout },
    deposits: read,
  }
}

function faultsOf(
  { network: name, asset: symbol, amount }: CanarySection['deposits'][number],
  { networks, readText }: Around,
  keyPath: string | null,
): string[] {
  const network = networks.find((one) => one.name === name)
  if (network === undefined) return [`network: ${name} is no network of these settings`]
  if (network.rpcUrls.length === 0) return [`network: ${name} is not read, and its deposits are not proved`]
  const key = keyPath === null ? [] : keyFaults(network.family, keyPath, readText)
  const labels = [...network.assets, ...(network.unpinned ?? [])].filter((one) => one.symbol === symbol)
  if (labels.length !== 1)
    return [...key, `asset: ${name} has ${labels.length || 'no'} assets called ${symbol}`]
  const decimals = network.assets.find((one) => one.symbol === symbol)?.decimals
  return [...key, ...amountFaults(amount, decimals)]
}

/** Decimals that are left to the chain are not known here; the start of the daemon tells then. */
function amountFaults(amount: string, decimals: number | undefined): string[] {
  try {
    return parseAmount(amount, decimals ?? 38) > 0n ? [] : ['amount: nothing would be paid']
  } catch {
    return [`amount: ${amount} has more digits than the asset`]
  }
}

const keyForms: Record<Family, { form: RegExp; said: string }> = {
  evm: { form: /^(0x)?[0-9a-f]{64}$/i, said: '64 hexadecimal digits' },
  solana: {
    form: /^\[(\s*\d{1,3}\s*,){63}\s*\d{1,3}\s*\]$/,
    said: 'a list of 64 bytes, as solana-keygen writes it',
  },
}

/** What the file holds is never repeated, and not kept: it is read anew for each payment. */
function keyFaults(family: Family, path: string, readText: Around['readText']): string[] {
  const { form, said } = keyForms[family]
  try {
    return form.test(readText(path).trim()) ? [] : [`keyFile: is no private key: ${said}`]
  } catch (error) {
    return [`keyFile: cannot be read: ${messageOf(error)}`]
  }
}

/** What is paid to owners of our own is our own: beside what customers are owed, in an account for each. */
export function canaryContras({ deposits }: CanarySection): ContraRule[] {
  return deposits.map(({ owner }) => ({
    pattern: { ownerKind: owner.kind, ownerId: owner.id },
    account: `${canaryAccounts}:{kind}:{id}`,
  }))
}

const canaryAccounts = 'equity:canary'

/** The pattern of those accounts; none without a canary. */
export function canaryPatterns({ deposits }: CanarySection): string[] {
  return deposits.length === 0 ? [] : [`${canaryAccounts}:*`]
}
