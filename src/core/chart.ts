/** In other books; `*` in the pattern matches any text. */
export type AccountLabel = { pattern: string; code: string | null; name: string | null }

/** A class, then names with any character of an id or an address. */
const accountShape = /^(assets|liabilities|equity|income|expenses)(:[^\s:\p{C}]+)+$/u

export function isAccount(text: string): boolean {
  return text.length <= 300 && accountShape.test(text)
}

export function builtInAccounts(networks: readonly string[]): string[] {
  return [
    ...networks.map((name) => `assets:in_transit:${name}`),
    ...networks.map((name) => `assets:forwarded:${name}:*`),
    'assets:stable_wallet:*',
    'assets:receivable:service',
    'equity:conversion',
    'expenses:fees:service',
    'expenses:tolerance',
    'expenses:write_off',
    'liabilities:deposits:channel:*',
    'liabilities:deposits:stable_wallet:*',
    'liabilities:suspense',
  ]
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
