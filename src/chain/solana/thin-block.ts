const [quote, opening, closing] = ['"', '{', '}'].map((one) => one.charCodeAt(0))

/** Addresses have 32 to 44 characters. */
const addressMin = 32

/**
 * A full block has thousands of transactions, of which few name a watched account. Without the others, its text is parsed in
 * a fraction of the time. Also kept is what must not be overlooked: a transaction without effects, or with a token balance
 * that names no owner.
 * @param text an answer of `getBlock` with accounts; returned whole if it has another form
 */
export function withTransactionsOf(accounts: ReadonlySet<string>, text: string): string {
  const list = /"transactions"\s*:\s*\[/.exec(text)
  // An escaped text could be an address.
  if (list === null || text.includes('\\')) return text
  const sought = { accounts, places: placesOf(accounts) }
  const from = list.index + list[0].length
  const kept: string[] = []
  let at = from
  for (;;) {
    const start = skipped(text, at)
    if (text[start] === ']') return text.slice(0, from) + kept.join(',') + text.slice(start)
    const found = text.charCodeAt(start) === opening ? scanTransaction(sought, text, start) : null
    if (found === null) return text
    const transaction = text.slice(start, found.end)
    if (found.isConcerned || !hasEffects.test(transaction)) kept.push(transaction)
    at = found.end
  }
}

const hasEffects = /"meta"\s*:\s*\{/

function skipped(text: string, from: number): number {
  let at = from
  while (' ,\n\r\t'.includes(text.charAt(at)) && at < text.length) at++
  return at
}

/** `places`: 1 where an account may be. A look-up in the set alone would take three quarters of the time. */
type Sought = { accounts: ReadonlySet<string>; places: Uint8Array }

function placesOf(accounts: ReadonlySet<string>): Uint8Array {
  const places = new Uint8Array(1 << 18)
  for (const account of accounts) places[placeOf(account, 0)] = 1
  return places
}

/** By three of its characters. */
function placeOf(text: string, at: number): number {
  const digit = (place: number) => text.charCodeAt(at + place) & 63
  return (digit(8) << 12) | (digit(9) << 6) | digit(10)
}

type ScannedTransaction = { end: number; isConcerned: boolean }

/** Null if the object does not end. Quotes and braces suffice, since no string has an escaped character. */
function scanTransaction(sought: Sought, text: string, start: number): ScannedTransaction | null {
  let depth = 0
  let isNamed = false
  let unowned = 0
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) {
      const end = text.indexOf('"', at + 1)
      if (end === -1) return null
      if (end - at > addressMin) isNamed ||= isSought(sought, text, at + 1)
      else unowned += ownersLeft(text, at, end)
      at = end
    } else if (code === opening) depth++
    else if (code === closing && --depth === 0) return { end: at + 1, isConcerned: isNamed || unowned !== 0 }
  }
  return null
}

/** What follows the address is a quote. */
function isSought({ accounts, places }: Sought, text: string, at: number): boolean {
  return places[placeOf(text, at)] === 1 && accounts.has(text.slice(at, text.indexOf('"', at)))
}

/** Each token balance has a mint and an owner. */
function ownersLeft(text: string, at: number, end: number): number {
  const length = end - at - 1
  const found = length === 4 && text.startsWith('mint', at + 1) ? 1 : 0
  const change = length === 5 && text.startsWith('owner', at + 1) ? -1 : found
  return change !== 0 && text[skipped(text, end + 1)] === ':' ? change : 0
}
