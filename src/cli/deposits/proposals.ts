import { listProposals, type ProposalLine } from '../../store/books/proposals.ts'
import { type Context, withDatabase } from '../context.ts'
import { idIn, type ListKeyset, type ListOptions, printList, readPage } from '../lists.ts'
import type { TableColumn } from '../print.ts'

const paging: ListKeyset<ProposalLine> = { list: 'proposals', keyOf: ({ id }) => [id] }

export async function listProposalsCommand(context: Context, options: ListOptions): Promise<void> {
  const page = await withDatabase(context, (db) =>
    readPage(options, paging, ({ limit, after }) => listProposals(db, { limit, after: idIn(after) })),
  )
  printList(context, page, { columns, json: options.json, empty: 'nothing is proposed' })
}

const columns: TableColumn<ProposalLine>[] = [
  { title: 'DEPOSIT', of: ({ deposit }) => deposit, align: 'right' },
  { title: 'SERVICE ID', of: ({ service_id }) => service_id },
  { title: 'AS', of: ({ role }) => (role === 'deposit' ? 'payment' : 'delivery') },
  { title: 'TRANSFER', of: ({ transfer }) => transfer },
  { title: 'AMOUNT', of: ({ amount }) => amount, align: 'right' },
  { title: 'ASSET', of: ({ asset_symbol: symbol, network }) => `${symbol} on ${network}` },
  { title: 'SCORE', of: ({ score }) => String(score), align: 'right' },
  { title: 'REASONS', of: ({ reasons }) => reasons.map(reasonText).join(', ') },
]

/** A person has to judge the rules that are not fulfilled, so these show what was compared. */
function reasonText({ rule, fulfilled, compares }: ProposalLine['reasons'][number]): string {
  return fulfilled ? rule : `not ${rule} (${compares})`
}
