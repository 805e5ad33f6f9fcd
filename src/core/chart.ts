import type { AssetKey } from './asset.ts'
import type { Brand } from './brand.ts'
import type { Owner } from './evidence.ts'

export type AccountId = Brand<string, 'AccountId'>

/** As the chart in docs/accounting.md lists them. */
export const accounts = {
  inTransit: (network: string) => `assets:in_transit:${network}` as AccountId,
  forwarded: (network: string, recipient: string) => `assets:forwarded:${network}:${recipient}` as AccountId,
  stableWallet: (id: string) => `assets:stable_wallet:${id}` as AccountId,
  deposits: (owner: Owner) => `liabilities:deposits:${owner.kind}:${owner.id}` as AccountId,
  suspense: 'liabilities:suspense' as AccountId,
  opening: 'equity:opening' as AccountId,
  trading: (asset: AssetKey) => `trading:${asset}` as AccountId,
  serviceFees: 'expenses:fees:service' as AccountId,
  tolerance: 'expenses:tolerance' as AccountId,
  writeOff: 'expenses:write_off' as AccountId & 'expenses:write_off',
  receivable: 'assets:receivable:service' as AccountId & 'assets:receivable:service',
}

/** What journals no longer sum to in a currency once their lines are rounded. */
export const roundingAccount = 'expenses:rounding' as AccountId

/** In the functional currency; losses are debits. */
export const gainAccounts = {
  realised: 'income:gains:realised' as AccountId,
  unrealised: 'income:gains:unrealised' as AccountId,
}

/** In other books; `*` in the pattern matches any text. */
export type AccountLabel = { pattern: string; code: string | null; name: string | null }

/** A class, then names with any character of an id or an address. */
const accountShape = /^(assets|liabilities|equity|income|expenses|trading)(:[^\s:\p{C}]+)+$/u

export function isAccount(text: string): boolean {
  return text.length <= 300 && accountShape.test(text)
}

export function builtInAccounts(networks: readonly string[]): string[] {
  return [
    ...networks.map((name) => `assets:in_transit:${name}`),
    ...networks.map((name) => `assets:forwarded:${name}:*`),
    'assets:stable_wallet:*',
    'assets:receivable:service',
    'expenses:fees:service',
    roundingAccount,
    'expenses:tolerance',
    'expenses:write_off',
    'equity:opening',
    'liabilities:deposits:channel:*',
    'liabilities:deposits:stable_wallet:*',
    'liabilities:suspense',
    ...Object.values(gainAccounts),
    'trading:*',
  ]
}

/** 1 if debits increase it, otherwise -1. */
export function usualSign(account: string): bigint {
  return /^(assets|expenses):/.test(account) ? 1n : -1n
}

export function matchesPattern(account: string, pattern: string): boolean {
  return patternsOverlap(pattern, account.replaceAll('*', '\u0000'))
}

export function patternsOverlap(one: string, other: string): boolean {
  const letters = other.split('')
  // For the letters of `one` so far: whether each prefix of `other` can match the same text.
  let row = [true, ...letters.map((_its, place) => /^\*+$/.test(other.slice(0, place + 1)))]
  for (const letter of one.split('')) {
    const next = [letter === '*' && row[0] === true]
    for (const [place, its] of letters.entries()) {
      const isShared = letter === its && row[place] === true
      const isTaken = row[place + 1] === true || next[place] === true
      next.push(letter === '*' || its === '*' ? isTaken : isShared)
    }
    row = next
  }
  return row.at(-1) === true
}
