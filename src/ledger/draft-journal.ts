import type { AssetKey } from '../core/asset.ts'
import type { LedgerTransfer } from '../core/booking-targets.ts'
import { type AccountId, isAccount } from '../core/chart.ts'
import { isFault } from '../core/errors.ts'
import { type Amount, formatAmount, parseAmount } from '../core/money.ts'

/** Can be stored and shown on one line. */
export function isReason(text: string): boolean {
  return text.trim() !== '' && text.length <= 1000 && !/\p{C}/u.test(text)
}

/** A line with both sides is complete; a line with one side is balanced by others. */
export type DraftLine = {
  debit?: string | undefined
  credit?: string | undefined
  asset: string
  amount: string
  /** Where it is written, in faults. */
  at?: string | undefined
}

export type BooksDirectory = {
  assets: ReadonlyMap<string, { symbol: string; network: string; decimals: number }>
  isKnown: (account: string) => boolean
}

/** @returns transfers, in the order of the lines; not usable if there are faults */
export function draftTransfers(
  lines: readonly DraftLine[],
  books: BooksDirectory,
): { transfers: LedgerTransfer[]; faults: string[] } {
  const faults: string[] = []
  const read = lines.map((line, place) =>
    readLine(
      line,
      books,
      (fault) => void faults.push(`${line.at ?? `line ${place + 1} of the journal`}: ${fault}`),
    ),
  )
  if (faults.length > 0) return { transfers: [], faults }
  const whole = read.flatMap(({ debit, credit, ...rest }) =>
    debit && credit ? [{ debit, credit, ...rest }] : [],
  )
  const halves = read.filter(({ debit, credit }) => debit === null || credit === null)
  const paired = [...Map.groupBy(halves, ({ asset }) => asset)].flatMap(([asset, of]) =>
    pair(asset, of, { books, faults }),
  )
  const transfers = [...whole, ...paired]
  const same = transfers.find(({ debit, credit }) => debit === credit)
  if (same !== undefined) faults.push(`${same.debit} is debited and credited with the same amount`)
  return { transfers, faults }
}

type ParsedJournalLine = {
  debit: AccountId | null
  credit: AccountId | null
  asset: AssetKey
  amount: Amount
}

function readLine(
  { debit, credit, ...line }: DraftLine,
  books: BooksDirectory,
  refuse: (fault: string) => void,
): ParsedJournalLine {
  for (const account of [debit, credit]) {
    if (account === undefined || (isAccount(account) && books.isKnown(account))) continue
    refuse(
      `account ${account} does not exist: use an account of the books, or add it to the setting accounts.own`,
    )
  }
  const sides = { debit: (debit ?? null) as AccountId | null, credit: (credit ?? null) as AccountId | null }
  return { ...sides, ...readAmount(line, books, refuse) }
}

function readAmount(
  { asset, amount }: DraftLine,
  { assets }: BooksDirectory,
  refuse: (fault: string) => void,
) {
  const found = assetsNamed(asset, assets)
  const [key = asset, ...others] = found
  const { symbol, decimals } = assets.get(key) ?? { symbol: asset, decimals: 38 }
  if (found.length === 0)
    refuse(`asset ${asset} does not exist: write it as network/SYMBOL or network/contract`)
  else if (others.length > 0)
    refuse(`${asset} matches several assets: use the contract instead of the symbol`)
  try {
    return { asset: key as AssetKey, amount: parseAmount(amount, decimals) }
  } catch (error) {
    if (!isFault(error, 'amount_malformed')) throw error
    refuse(`${amount} is not an amount of ${symbol}, which has ${decimals} decimals`)
    return { asset: key as AssetKey, amount: 0n as Amount }
  }
}

/** By key, or else by `network/SYMBOL`. */
function assetsNamed(name: string, assets: BooksDirectory['assets']): string[] {
  if (assets.has(name)) return [name]
  return [...assets].flatMap(([key, { network, symbol }]) => (`${network}/${symbol}` === name ? [key] : []))
}

/** Pairs each debit with the next credits until both are used up. */
function pair(
  asset: AssetKey,
  lines: readonly ParsedJournalLine[],
  { books, faults }: { books: BooksDirectory; faults: string[] },
): LedgerTransfer[] {
  const debits = lines.flatMap(({ debit, amount }) => sideOf(debit, amount))
  const credits = lines.flatMap(({ credit, amount }) => sideOf(credit, amount))
  const [debited, credited] = [debits, credits].map((sides) =>
    sides.reduce((sum, { left }) => sum + left, 0n),
  )
  if (debited !== credited) {
    const { network = '', symbol = '', decimals = 0 } = books.assets.get(asset) ?? {}
    const inUnits = (sum = 0n) => formatAmount(sum, decimals)
    faults.push(
      `${network}/${symbol} is not balanced: debits ${inUnits(debited)}, credits ${inUnits(credited)}`,
    )
    return []
  }
  const transfers: LedgerTransfer[] = []
  for (const debit of debits) {
    while (debit.left > 0n) {
      const credit = credits.find(({ left }) => left > 0n)
      if (credit === undefined) break
      const amount = debit.left < credit.left ? debit.left : credit.left
      debit.left -= amount
      credit.left -= amount
      transfers.push({ debit: debit.account, credit: credit.account, asset, amount: amount as Amount })
    }
  }
  return transfers
}

function sideOf(account: AccountId | null, left: bigint): { account: AccountId; left: bigint }[] {
  return account === null ? [] : [{ account, left }]
}
