import type { Matrix } from '../core/judging/matrix.ts'
import type { ShownDeposit } from '../store/books/show-deposit.ts'
import { table } from './print.ts'

export function matrixTable({ deposit, settlement }: Matrix): string {
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

export function mismatchText({
  kind,
  severity,
  opened_at,
  cleared_at,
  status,
  detail,
}: ShownDeposit['mismatches'][number]): string {
  const said = Object.entries(detail).map(([name, value]) => `${name} ${value}`)
  const until = cleared_at === null ? status : `cleared ${cleared_at.toISOString()}`
  return `${kind} (${severity}) since ${opened_at.toISOString()}, ${until}: ${said.join(', ')}\n`
}

export function journalText({ posting_key, event_at, transfers }: ShownDeposit['journals'][number]): string {
  const lines = table(transfers, [
    { title: 'DEBIT', of: ({ debit }) => debit },
    { title: 'CREDIT', of: ({ credit }) => credit },
    { title: 'AMOUNT', of: ({ amount }) => amount, align: 'right' },
    { title: 'ASSET', of: ({ asset }) => asset },
  ])
  return `${posting_key} at ${event_at.toISOString()}\n${indent(lines)}`
}

export function section(title: string, text: string): string {
  return `\n  ${title}\n${indent(indent(text))}`
}

export function indent(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '  ')
}

function word(cell: string): string {
  return cell.replaceAll('_', ' ')
}
