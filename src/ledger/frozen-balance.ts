import { createHash } from 'node:crypto'
import type { Period } from './period.ts'

/** What was debited and credited to an account in one asset, in its smallest units. */
export type FrozenBalanceLine = { account: string; asset: string; debit: bigint; credit: bigint }

/** The lines of several parts of the books as those of all of them, in the order in which they are hashed. */
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
 * SHA-256 of a trial balance, whose lines have to be added in order: by account, then asset, as bytes of UTF-8. The text
 * is what `COPY … TO STDOUT` of Postgres writes for month, account, asset, debit and credit: tabs between them, a line
 * feed behind each line, and a backslash before what would be taken for either.
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

/** UTF-16, in which texts are compared otherwise, has another order beyond U+FFFF. */
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
