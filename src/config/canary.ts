import { dirname, resolve } from 'node:path'
import type { Family, NetworkName, NetworkSettings } from '../core/asset.ts'
import { messageOf } from '../core/errors.ts'
import type { Owner } from '../core/evidence.ts'
import { parseAmount } from '../core/money.ts'
import type { ContraRule } from '../core/posting.ts'
import { parsePrivateKey, privateKeyForms } from '../core/private-key.ts'
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
  /** Null if another party pays. Only the worker reads the file; no other role checks that it exists. */
  keyPath: string | null
  /** Highest fee of one payment, in units of the native asset. */
  feeMax: string
}

/** Sections of the settings file that canaries depend on. */
type Sections = { canary: CanarySection; webhooks: { scheme: string } }

/**
 * Checks the section against the networks and the signing scheme that it relies on.
 * @param file null if it has faults; its canaries are unknown then
 */
export function readCanary(
  reader: EnvironmentReader,
  file: Sections | null,
  networks: readonly NetworkSettings[],
): CanarySettings {
  if (file === null) return { webhooks: null, deposits: [] }
  const { webhooks, deposits } = file.canary
  const refuse = (fault: string) => void reader.faults.push(`DEPOSITD_CONFIG, canary.${fault}`)
  if (webhooks !== null && file.webhooks.scheme === 'public-key')
    refuse("webhooks: what the scheme public-key signs with is the sender's alone, so that we cannot sign")
  if (webhooks !== null && wouldShowSecret(file.webhooks.scheme, webhooks.url))
    refuse('webhooks.url: is not https://, and the scheme shared-secret sends the secret itself')
  const folder = dirname(reader.optional('DEPOSITD_CONFIG') ?? '')
  const read = deposits.map((entry, place): DepositCanarySettings => {
    const { network, asset, amount, owner, every, within, keyFile, feeMax = feeMaxDefault } = entry
    const keyPath = keyFile === undefined ? null : resolve(folder, keyFile)
    const faults = faultsOf(entry, networks)
    if (deposits.findIndex((one) => one.network === network) !== place)
      faults.push(`network: ${network} has a canary already`)
    for (const fault of faults) refuse(`deposits.${place}.${fault}`)
    const means = { keyPath, feeMax, everyMs: every, withinMs: within }
    return { network: network as NetworkName, symbol: asset, amount, owner, ...means }
  })
  return {
    webhooks: webhooks && { url: webhooks.url, everyMs: webhooks.every, timeoutMs: webhooks.timeout },
    deposits: read,
  }
}

/** Many times the fee of a payment if the native asset is ether. A cheap native asset needs a higher limit. */
const feeMaxDefault = '0.001'
const nativeDecimals = 18

/** Whether a request would show the shared secret of webhooks to the network. */
export function wouldShowSecret(scheme: string, address: string): boolean {
  const { protocol, hostname } = new URL(address)
  const staysHere = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)
  return scheme === 'shared-secret' && protocol !== 'https:' && !staysHere
}

function faultsOf(
  { network: name, asset: symbol, amount, feeMax }: CanarySection['deposits'][number],
  networks: readonly NetworkSettings[],
): string[] {
  const network = networks.find((one) => one.name === name)
  if (network === undefined) return [`network: ${name} is no network of these settings`]
  if (network.rpcUrls.length === 0) return [`network: ${name} is not read, and its deposits are not proved`]
  const fee = feeMax === undefined ? [] : feeFaults(network.family, feeMax)
  const labels = [...network.assets, ...(network.unpinned ?? [])].filter((one) => one.symbol === symbol)
  if (labels.length !== 1)
    return [...fee, `asset: ${name} has ${labels.length || 'no'} assets called ${symbol}`]
  const decimals = network.assets.find((one) => one.symbol === symbol)?.decimals
  return [...fee, ...amountFaults(amount, decimals)]
}

function feeFaults(family: Family, feeMax: string): string[] {
  if (family === 'solana') return ['feeMax: is fixed on Solana']
  return amountFaults(feeMax, nativeDecimals).map((fault) => fault.replace('amount', 'feeMax'))
}

/** Decimals that are read from the chain are unknown here; the daemon checks them at its start. */
function amountFaults(amount: string, decimals: number | undefined): string[] {
  try {
    return parseAmount(amount, decimals ?? 38) > 0n ? [] : ['amount: nothing would be paid']
  } catch {
    return [`amount: ${amount} has more digits than the asset`]
  }
}

/**
 * Why a key file cannot be used for payments; null if it can. Its content is never repeated and not stored: it is read
 * again for each payment.
 */
export function keyProblem(
  path: string,
  family: Family,
  readText: (path: string) => string,
): { kind: 'unreadable' | 'malformed'; says: string } | null {
  try {
    if (parsePrivateKey(family, readText(path)) !== null) return null
    return { kind: 'malformed', says: `keyFile: is no private key: ${privateKeyForms[family]}` }
  } catch (error) {
    return { kind: 'unreadable', says: `keyFile: cannot be read: ${messageOf(error)}` }
  }
}

/** Payments to our own owners are our own money: each owner has an account apart from the liabilities to customers. */
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
