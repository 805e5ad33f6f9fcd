import { toTxId } from '../core/asset.ts'
import { type ShownDeposit, showDeposits } from '../store/books/show-deposit.ts'
import { listDeposits } from '../store/reports.ts'
import {
  depositColumns,
  depositFacts,
  evidenceColumns,
  mismatchText,
  saidOf,
} from '../telling/told-deposit.ts'
import type { Explanation } from '../telling/told-reasons.ts'
import { type Context, withDatabase } from './context.ts'
import { factsText, indent, journalText, matrixTable, section } from './deposit-sections.ts'
import { explainShown, explanationText } from './explanation.ts'
import { limitOf, noDeposit } from './options.ts'
import { printable, printJson, printRows, table } from './print.ts'
import { knownRules } from './show-settings.ts'

type ListOptions = { state?: string; network?: string; owner?: string; limit: string; json?: boolean }

export async function listDepositsCommand(context: Context, options: ListOptions): Promise<void> {
  const { state, network, owner } = options
  const filter = { state, network, owner, limit: limitOf(options.limit) }
  const rows = await withDatabase(context, (db) => listDeposits(db, filter))
  printRows(context, rows, { columns: depositColumns, json: options.json === true, empty: 'no deposits' })
}

export async function showDepositCommand(
  context: Context,
  id: string,
  { json }: { json?: boolean },
): Promise<void> {
  const known = knownRules(context)
  const shown = await withDatabase(context, async (db) => {
    const found = await showDeposits(db, toTxId(id))
    return Promise.all(
      found.map(async (one) => ({ ...one, explanation: await explainShown(db, one, known) })),
    )
  })
  if (shown.length === 0) throw noDeposit(id)
  if (json === true) printJson(context, shown)
  else context.stdout.write(printable(shown.map(textOf).join('\n')))
}

type Explained = ShownDeposit & { explanation: Explanation }

function textOf({ explanation, ...shown }: Explained): string {
  const { deposit, matrix, mismatches, evidence, journals } = shown
  return [
    `deposit ${saidOf(deposit, 'id')}: ${saidOf(deposit, 'state')}\n`,
    factsText(depositFacts(shown), 10),
    '\n',
    indent(matrixTable(matrix)),
    section('mismatches', mismatches.length === 0 ? 'none\n' : mismatches.map(mismatchText).join('')),
    section('why', explanationText(explanation)),
    section('evidence', table(evidence, evidenceColumns)),
    section('journals', journals.length === 0 ? 'none\n' : journals.map(journalText).join('')),
  ].join('')
}
