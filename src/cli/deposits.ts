import { toTxId } from '../core/asset.ts'
import { Fault } from '../core/errors.ts'
import type { Matrix } from '../core/matrix.ts'
import { type DepositLine, listDeposits } from '../store/reports.ts'
import { type ShownDeposit, showDeposits } from '../store/show-deposit.ts'
import { type Context, withDatabase } from './context.ts'
import { limitOf } from './options.ts'
import { type Column, printJson, printRows, table } from './print.ts'

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
  const shown = await withDatabase(context, (db) => showDeposits(db, toTxId(id)))
  if (shown.length === 0) {
    throw new Fault('usage_bad', {
      problem: `there is no deposit ${id}`,
      mend: 'take a number from "depositd deposits list", an id of the service, or a transaction',
    })
  }
  if (json === true) printJson(context, shown)
  else context.stdout.write(shown.map(textOf).join('\n'))
}

function textOf({ deposit, matrix, mismatches, evidence, journals }: ShownDeposit): string {
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
    section('evidence', table(evidence, evidenceColumns)),
    section('journals', journals.length === 0 ? 'none\n' : journals.map(journalText).join('')),
  ].join('')
}

function matrixTable({ deposit, settlement }: Matrix): string {
  return table(
    [
      { leg: 'deposit', ...deposit },
      { leg: 'settlement', ...settlement },
    ],
    [
      { title: '', of: ({ leg }) => leg },
      { title: 'WEBHOOK', of: ({ webhook }) => word(webhook) },
      { title: 'API', of: ({ api }) => word(api) },
      { title: 'CHAIN', of: ({ chain }) => word(chain) },
    ],
  )
}

const evidenceColumns: Column<ShownDeposit['evidence'][number]>[] = [
  { title: 'RECEIVED', of: ({ received_at }) => received_at.toISOString() },
  { title: 'SOURCE', of: ({ source }) => source },
  { title: 'SAYS', of: ({ what }) => what },
  { title: 'INBOX', of: ({ inbox_id }) => inbox_id, align: 'right' },
]

function mismatchText({
  kind,
  severity,
  opened_at,
  cleared_at,
  detail,
}: ShownDeposit['mismatches'][number]): string {
  const said = Object.entries(detail).map(([name, value]) => `${name} ${value}`)
  const until = cleared_at === null ? 'open' : `cleared ${cleared_at.toISOString()}`
  return `${kind} (${severity}) since ${opened_at.toISOString()}, ${until}: ${said.join(', ')}\n`
}

function journalText({ posting_key, event_at, transfers }: ShownDeposit['journals'][number]): string {
  const lines = table(transfers, [
    { title: 'DEBIT', of: ({ debit }) => debit },
    { title: 'CREDIT', of: ({ credit }) => credit },
    { title: 'AMOUNT', of: ({ amount }) => amount, align: 'right' },
    { title: 'ASSET', of: ({ asset }) => asset },
  ])
  return `${posting_key} at ${event_at.toISOString()}\n${indent(lines)}`
}

function section(title: string, text: string): string {
  return `\n  ${title}\n${indent(indent(text))}`
}

function indent(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '  ')
}

function word(cell: string): string {
  return cell.replaceAll('_', ' ')
}
