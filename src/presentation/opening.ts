import { createHash } from 'node:crypto'
import { accounts } from '../core/chart.ts'
import { formatAmount } from '../core/money.ts'
import type { TransferLine } from './deposit.ts'
import type { Fact } from './text.ts'

/** Of opening balances; the rest is behind a link or an option. */
export const openingLinesShown = 20

/** What a person reads of opening balances before they sign them, beside the date and the first lines. */
export function openingFacts(file: string | null, transfers: readonly TransferLine[]): Fact[] {
  const lines = transfers.map(balanceOf)
  const differences = lines.filter(isDifference)
  const balances = lines.filter((one) => !isDifference(one))
  return [
    { name: 'accounts', lines: [`${new Set(balances.map(({ account }) => account)).size}`] },
    { name: 'totals', lines: totalsOf(balances) },
    { name: 'differences', lines: differences.length === 0 ? ['none'] : totalsOf(differences) },
    { name: 'file', lines: [file === null ? 'none: what is proved is booked' : fileText(file)] },
  ]
}

type OpeningSide = { account: string; other: string; asset: string; amount: string; isDebit: boolean }

function isDifference({ other }: OpeningSide): boolean {
  return other === accounts.suspense
}

/** A balance has equity or suspense as its other side. */
function balanceOf({ debit, credit, amount, asset_symbol: symbol, network }: TransferLine): OpeningSide {
  const isDebit = credit === accounts.opening || credit === accounts.suspense
  const [account, other] = isDebit ? [debit, credit] : [credit, debit]
  return { account, other, asset: `${symbol} on ${network}`, amount, isDebit }
}

function totalsOf(balances: readonly OpeningSide[]): string[] {
  return [...Map.groupBy(balances, ({ asset }) => asset)].map(([asset, all]) => {
    const [debits, credits] = [true, false].map((side) =>
      sumOf(all.filter(({ isDebit }) => isDebit === side)),
    )
    return `${asset}: debit ${debits}, credit ${credits}, in ${all.length === 1 ? '1 line' : `${all.length} lines`}`
  })
}

/** Of one asset, so with the same decimals. */
function sumOf(balances: readonly OpeningSide[]): string {
  const decimals = balances[0]?.amount.split('.')[1]?.length ?? 0
  const sum = balances.reduce((whole, { amount }) => whole + BigInt(amount.replace('.', '')), 0n)
  return formatAmount(sum, decimals)
}

function fileText(file: string): string {
  const lines = file.trimEnd().split('\n').length
  return `${lines} lines, SHA-256 ${createHash('sha256').update(file).digest('hex')}`
}
