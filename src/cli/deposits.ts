import { toTxId } from '../core/asset.ts'
import { type ShownDeposit, showDeposits } from '../store/books/show-deposit.ts'
import { type DepositLine, listDeposits } from '../store/reports.ts'
import { type Context, withDatabase } from './context.ts'
import { indent, journalText, matrixTable, mismatchText, section } from './deposit-sections.ts'
import { type Explanation, explainDeposit, explanationText } from './explanation.ts'
import { limitOf, noDeposit } from './options.ts'
import { type Column, printable, printJson, printRows, table } from './print.ts'
import { knownRules } from './show-settings.ts'

type ListOptions = { state?: string; network?: string; owner?: string; limit: string; json?: boolean }

export async function listDepositsCommand(context: Context, options: ListOptions): Promise<void> {
  const { state, network, owner } = options
  const filter = { state, network, owner, limit: limitOf(options.limit) }
  const rows = await withDatabase(context, (db) => listDeposits(db, filter))
  printRows(context, rows, { columns, json: options.json === true, empty: 'no deposits' })
}

const columns: Column<DepositLine>[] = [
  { title: 'ID', of: ({ id }) => id, align: 'right' },
  { title: 'STATE', of: ({ state }) => state },
  { title: 'OWNER', of: ({ owner }) => owner },
  { title: 'NETWORK', of: ({ network }) => network },
  { title: 'AMOUNT', of: ({ amount }) => amount, align: 'right' },
  { title: 'ASSET', of: ({ asset }) => asset },
  { title: 'DELIVERED', of: ({ settlement }) => settlement },
  { title: 'MISMATCHES', of: ({ mismatches }) => mismatches },
]

export async function showDepositCommand(
  context: Context,
  id: string,
  { json }: { json?: boolean },
): Promise<void> {
  const known = knownRules(context)
  const shown = await withDatabase(context, async (db) => {
    const found = await showDeposits(db, toTxId(id))
    return Promise.all(
      found.map(async (one) => ({ ...one, explanation: await explainDeposit(db, one, known) })),
    )
  })
  if (shown.length === 0) throw noDeposit(id)
  if (json === true) printJson(context, shown)
  else context.stdout.write(printable(shown.map(textOf).join('\n')))
}

type Explained = ShownDeposit & { explanation: Explanation }

function textOf({ deposit, matrix, mismatches, evidence, journals, explanation }: Explained): string {
  const said = (name: string): string => {
    const value = deposit[name]
    return value instanceof Date ? value.toISOString() : String(value ?? '-')
  }
  return [
    `deposit ${said('id')}: ${said('state')}\n`,
    `  for        ${said('owner_kind')} ${said('owner_id')}\n`,
    `  paid       ${said('amount')} ${said('asset_symbol')} on ${said('network')} to ${said('address')}\n`,
    `             ${said('tx')}\n`,
    `  delivered  ${said('settlement_amount')} ${said('settlement_asset_symbol')} on ${said('settlement_network')} to ${said('settlement_address')}, fee ${said('fee')}\n`,
    `             ${said('settlement_tx')}\n`,
    `  service    ${said('service_id')}\n\n`,
    indent(matrixTable(matrix)),
    section('mismatches', mismatches.length === 0 ? 'none\n' : mismatches.map(mismatchText).join('')),
    section('why', explanationText(explanation)),
    section('evidence', table(evidence, evidenceColumns)),
    section('journals', journals.length === 0 ? 'none\n' : journals.map(journalText).join('')),
  ].join('')
}

const evidenceColumns: Column<ShownDeposit['evidence'][number]>[] = [
  { title: 'RECEIVED', of: ({ received_at }) => received_at.toISOString() },
  { title: 'SOURCE', of: ({ source }) => source },
  { title: 'SAYS', of: ({ what }) => what },
  { title: 'INBOX', of: ({ inbox_id }) => inbox_id, align: 'right' },
]
