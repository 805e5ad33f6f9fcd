import { createHash } from 'node:crypto'
import type { Brand } from '../core/brand.ts'

/** In UTC: `2026-01`. */
export type Period = Brand<string, 'Period'>

export function parsePeriod(text: string): Period | null {
  return /^\d{4}-(0[1-9]|1[0-2])$/.test(text) ? (text as Period) : null
}

export function nextPeriod(period: Period): Period {
  const [year = 0, month = 0] = period.split('-').map(Number)
  return new Date(Date.UTC(year, month)).toISOString().slice(0, 7) as Period
}

/** To the microsecond. */
export function lastMoment(period: Period): string {
  const next = new Date(`${nextPeriod(period)}-01T00:00:00Z`)
  return new Date(next.getTime() - 1).toISOString().replace('Z', '999Z')
}

/** In base units. */
export type FrozenBalanceLine = { account: string; asset: string; debit: bigint; credit: bigint }

/** In the order in which they are hashed. */
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
 * SHA-256 of Postgres's `COPY … TO STDOUT` of month, account, asset, debit and credit. Lines must be added by account,
 * then asset, compared as UTF-8 bytes.
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

/** JavaScript orders characters beyond U+FFFF differently, as UTF-16. */
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
