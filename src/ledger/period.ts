import { createHash } from 'node:crypto'
import type { Brand } from '../core/brand.ts'

/** A month of the books, in UTC: `2026-01`. */
export type Period = Brand<string, 'Period'>

/** Null if the text is not a month. */
export function parsePeriod(text: string): Period | null {
  return /^\d{4}-(0[1-9]|1[0-2])$/.test(text) ? (text as Period) : null
}

/** The debits and credits of an account in one asset, in smallest units. */
export type FrozenBalanceLine = { account: string; asset: string; debit: bigint; credit: bigint }

/** Adds up the lines of several parts of the books, in the order in which they are hashed. */
export function addUp(lines: readonly FrozenBalanceLine[]): FrozenBalanceLine[] {
  const sums = new Map<string, FrozenBalanceLine>()
  for (const { account, asset, debit, credit } of lines) {
    const key = JSON.stringify([account, asset])
    const sum = sums.get(key) ?? { account, asset, debit: 0n, credit: 0n }
    sums.set(key, { account, asset, debit: sum.debit + debit, credit: sum.credit + credit })
  }
  return [...sums.values()].toSorted(
    (left, right) => compareBytes(left.account, right.account) || compareBytes(left.asset, right.asset),
  )
}

/**
 * SHA-256 of a trial balance. Lines must be added in order: by account, then asset, compared as UTF-8 bytes. The text
 * is the output of `COPY … TO STDOUT` of Postgres for month, account, asset, debit and credit: separated by tabs, a
 * line feed after each line, and a backslash before characters that would be mistaken for either.
 */
export function hashBalance(period: Period) {
  const hash = createHash('sha256')
  return {
    add({ account, asset, debit, credit }: FrozenBalanceLine): void {
      hash.update(`${[period, escaped(account), escaped(asset), debit, credit].join('\t')}\n`)
    },
    digest: () => hash.digest('hex'),
  }
}

/** JavaScript compares strings as UTF-16, which orders characters beyond U+FFFF differently. */
function compareBytes(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right))
}

const escapes: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
}

function escaped(text: string): string {
  return text.replaceAll(/[\\\b\f\n\r\t\v]/g, (character) => escapes[character] ?? character)
}
