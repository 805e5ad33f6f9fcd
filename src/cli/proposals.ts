import { listProposals, type ProposalLine } from '../store/books/proposals.ts'
import { type Context, withDatabase } from './context.ts'
import { limitOf } from './options.ts'
import { type Column, printRows } from './print.ts'

type ProposalOptions = { limit: string; json?: boolean }

export async function listProposalsCommand(context: Context, options: ProposalOptions): Promise<void> {
  const limit = limitOf(options.limit)
  const rows = await withDatabase(context, (db) => listProposals(db, { limit }))
  printRows(context, rows, { columns, json: options.json === true, empty: 'nothing is proposed' })
}

const columns: Column<ProposalLine>[] = [
  { title: 'DEPOSIT', of: ({ deposit }) => deposit, align: 'right' },
  { title: 'SERVICE ID', of: ({ service_id }) => service_id },
  { title: 'AS', of: ({ role }) => (role === 'deposit' ? 'payment' : 'delivery') },
  { title: 'TRANSFER', of: ({ transfer }) => transfer },
  { title: 'AMOUNT', of: ({ amount }) => amount, align: 'right' },
  { title: 'ASSET', of: ({ asset, network }) => `${asset} on ${network}` },
  { title: 'SCORE', of: ({ score }) => String(score), align: 'right' },
  { title: 'REASONS', of: ({ reasons }) => reasons.map(reasonText).join(', ') },
]

/** What is not fulfilled is what a person has to judge, so it says what was compared. */
function reasonText({ rule, fulfilled, compares }: ProposalLine['reasons'][number]): string {
  return fulfilled ? rule : `not ${rule} (${compares})`
}
