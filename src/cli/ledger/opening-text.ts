import { formatAmount } from '../../core/money.ts'
import { formatMinor } from '../../core/value.ts'
import type { BookedOpening, OpeningPreview } from '../../jobs/books/open-books.ts'
import { isOwn, sumOf } from '../../ledger/lots.ts'
import { isDifferent, type OpeningRow } from '../../ledger/opening.ts'
import type { OwnFunds, StatedOpening } from '../../ledger/opening-lots.ts'
import type { AssetNames } from '../../store/assets.ts'
import { journalDocument } from '../documents.ts'
import { type TableColumn, table } from '../print.ts'

type ShownOpening = OpeningPreview | BookedOpening

export function openingDocument(opening: ShownOpening, assets: AssetNames) {
  return {
    ...journalDocument(opening, assets),
    balances: opening.rows.map((row) => rowDocument(row, assets)),
    differing: opening.rows.filter(isDifferent).length,
    lots: opening.lots.map((lot) => lotDocument(lot, assets)),
  }
}

type TextOptions = { assets: AssetNames; ownFunds?: OwnFunds; limit: number }

/** `rows` and `costs` end their lines. */
export function openingText(
  opening: ShownOpening,
  { assets, ownFunds = null, limit }: TextOptions,
): { rows: string; costs: string; replaced: string } {
  const costs = costLines({ assets, ownFunds, opening }).map((text) => `${text}\n`)
  return {
    rows: rowTable(opening, assets, limit),
    costs: costs.join(''),
    replaced: replacedLine(opening),
  }
}

function lotDocument({ account, asset, acquiredAt, units, cost, currency }: StatedLot, assets: AssetNames) {
  const { symbol, decimals } = assets.get(asset) ?? { symbol: asset, decimals: 0 }
  return {
    account,
    assetSymbol: symbol,
    asset,
    acquiredAt,
    amount: formatAmount(units, decimals),
    amountBase: units,
    cost: formatMinor(cost, currency),
    currency,
  }
}

/** How own funds enter the books. */
function costLines({
  assets,
  ownFunds,
  opening: { rows, lots },
}: {
  assets: AssetNames
  ownFunds: OwnFunds
  opening: ShownOpening
}): string[] {
  if (ownFunds === null) return []
  const { currency } = ownFunds
  const units = (of: OpeningRow) =>
    sumOf(lots.filter(({ account, asset }) => account === of.account && asset === of.asset)).units
  const atMarket = rows.filter((row) => isOwn(row.account, ownFunds) && row.stated > units(row))
  const named = atMarket.map(({ account, asset }) => `${account} in ${assets.get(asset)?.symbol ?? asset}`)
  return [
    ...(lots.length === 0
      ? []
      : [
          `own funds with a cost: ${lots.length} lots, ${formatMinor(sumOf(lots).cost, currency)} ${currency}`,
        ]),
    ...(named.length === 0 ? [] : [`own funds at their market price, without a cost: ${named.join(', ')}`]),
  ]
}

type StatedLot = StatedOpening['lots'][number]

function rowDocument({ account, asset, basis, ...row }: OpeningRow, assets: AssetNames) {
  const { symbol, decimals } = assets.get(asset) ?? { symbol: asset, decimals: 0 }
  const inUnits = (amount: bigint) => formatAmount(amount, decimals)
  return {
    account,
    assetSymbol: symbol,
    asset,
    stated: inUnits(row.stated),
    statedBase: row.stated,
    proved: row.proved === null ? null : inUnits(row.proved),
    provedBase: row.proved,
    difference: row.difference === null ? null : inUnits(row.difference),
    differenceBase: row.difference,
    basis,
  }
}

function rowTable({ rows }: ShownOpening, assets: AssetNames, limit: number): string {
  const shown = table(
    rows.slice(0, limit).map((row) => rowDocument(row, assets)),
    columns,
  )
  return rows.length > limit
    ? `${shown}and ${rows.length - limit} more; a higher --limit shows them\n`
    : shown
}

const columns: TableColumn<ReturnType<typeof rowDocument>>[] = [
  { title: 'ACCOUNT', value: ({ account }) => account },
  { title: 'STATED', value: ({ stated }) => stated, align: 'right' },
  { title: 'PROVED', value: ({ proved }) => proved ?? '', align: 'right' },
  { title: 'DIFFERENCE', value: ({ difference }) => difference ?? '', align: 'right' },
  { title: 'SYMBOL', value: ({ assetSymbol: symbol }) => symbol },
  { title: 'BY', value: ({ basis }) => basis },
  { title: 'ASSET', value: ({ asset }) => asset },
]

function replacedLine({ replaced }: Pick<OpeningPreview, 'replaced'>): string {
  return replaced === 0
    ? 'no journal of an earlier event is booked'
    : `journals of earlier events, which the daemon reverses: ${replaced}`
}
