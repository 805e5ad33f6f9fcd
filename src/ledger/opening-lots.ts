import type { LedgerTransfer } from '../core/booking-targets.ts'
import { isFault } from '../core/errors.ts'
import { formatAmount, parseAmount } from '../core/money.ts'
import { minorPlaces } from '../core/value.ts'
import type { BooksDirectory } from './draft-journal.ts'
import { type CostBasis, isOwn } from './lots.ts'
import type { OpeningLine } from './opening.ts'
import type { OpeningLot } from './valued-journal.ts'

/** By the settings; null if they name no currency. */
export type OwnFunds = (Pick<CostBasis, 'own'> & { currency: string }) | null

/** What people state: balances against `equity:opening`, and what own units cost, in the smallest coins. */
export type StatedOpening = {
  transfers: readonly LedgerTransfer[]
  lots: readonly (OpeningLot & { currency: string })[]
}

type Directory = { assets: BooksDirectory['assets']; ownFunds: OwnFunds }
type OpeningPart = StatedOpening & { faults: readonly string[] }
type DraftedLine = OpeningLine & { transfer: LedgerTransfer }

/** @param transfers one of each line */
export function statedOpening(
  lines: readonly OpeningLine[],
  transfers: readonly LedgerTransfer[],
  directory: Directory,
): OpeningPart {
  const drafted = lines.flatMap((line, place) => {
    const transfer = transfers[place]
    return transfer === undefined ? [] : [{ ...line, transfer }]
  })
  const places = Map.groupBy(
    drafted,
    ({ transfer: { debit, credit, asset } }) => `${debit} ${credit} ${asset}`,
  )
  const parts = [...places.values()].map((same) => statedAt(same, directory))
  return {
    transfers: parts.flatMap((part) => part.transfers),
    lots: parts.flatMap(({ lots }) => lots),
    faults: parts.flatMap(({ faults }) => faults),
  }
}

/** A line without a cost beside lines with one states what they have in total. */
function statedAt(lines: readonly DraftedLine[], directory: Directory): OpeningPart {
  const acquired = lines.filter(({ lot }) => lot !== null)
  const totals = lines.filter(({ lot }) => lot === null)
  if (acquired.length === 0)
    return { transfers: totals.map(({ transfer }) => transfer), lots: [], faults: [] }
  const lots = acquired.map((line) => lotOf(line, directory))
  const sum = acquired.reduce((total, { transfer }) => total + transfer.amount, 0n)
  const wrong = totals.filter(({ transfer }) => transfer.amount !== sum)
  return {
    transfers: acquired.map(({ transfer }) => transfer),
    lots: lots.filter((lot) => typeof lot !== 'string'),
    faults: [
      ...lots.filter((lot) => typeof lot === 'string'),
      ...wrong.map(({ line, amount, transfer: { asset } }) => {
        const inAll = formatAmount(sum, directory.assets.get(asset)?.decimals ?? 0)
        return `line ${line}: states ${amount}, but the lines with a cost have ${inAll} in total`
      }),
    ],
  }
}

/** @returns what is wrong with it, if anything is */
function lotOf(
  { line, lot, transfer: { debit: account, asset, amount: units } }: DraftedLine,
  { ownFunds }: Directory,
): StatedOpening['lots'][number] | string {
  if (ownFunds === null) return `line ${line}: has a cost, but the settings name no currency in valuation`
  if (!isOwn(account, ownFunds))
    return `line ${line}: has a cost, but ${account} is not in valuation.own of the settings`
  const { currency } = ownFunds
  const { cost: text = '', acquiredAt = null } = lot ?? {}
  try {
    return { account, asset, acquiredAt, units, cost: parseAmount(text, minorPlaces(currency)), currency }
  } catch (error) {
    if (!isFault(error, 'amount_malformed')) throw error
    return `line ${line}: ${text} is not an amount of ${currency}, which has ${minorPlaces(currency)} decimals`
  }
}
