import { toTxId } from '../../core/asset.ts'
import {
  depositColumns,
  depositFacts,
  evidenceColumns,
  mismatchText,
  saidOf,
} from '../../presentation/deposit.ts'
import { type Explanation, reasonDocument } from '../../presentation/reasons.ts'
import { type DepositReport, showDeposits } from '../../store/books/show-deposit.ts'
import { type DepositLine, listDeposits } from '../../store/reports.ts'
import { type Context, withDatabase } from '../context.ts'
import { checkFilters } from '../filters.ts'
import { idIn, type ListKeyset, type ListOptions, printList, readPage } from '../lists.ts'
import { mismatchDocument } from '../mismatches/mismatch-document.ts'
import { noDeposit, onlyOne } from '../options.ts'
import { printable, printJson, table } from '../print.ts'
import { knownRules } from '../show-settings.ts'
import { factsText, indent, journalText, matrixTable, section } from './deposit-sections.ts'
import { explainShown, explanationText } from './explanation.ts'

type DepositFilters = { state?: string; network?: string; owner?: string }

const paging: ListKeyset<DepositLine> = { list: 'deposits', keyOf: ({ id }) => [id] }

export async function listDepositsCommand(
  context: Context,
  { state, network, owner, ...options }: ListOptions & DepositFilters,
): Promise<void> {
  const page = await withDatabase(context, async (db) => {
    await checkFilters(context, db, { network, owner })
    return readPage(options, paging, ({ limit, after }) =>
      listDeposits(db, { state, network, owner, limit, before: idIn(after) }),
    )
  })
  printList(context, page, { columns: depositColumns, json: options.json, empty: 'no deposits' })
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
  if (json === true) printJson(context, documentOf(onlyOne(id, shown)))
  else context.stdout.write(printable(shown.map(textOf).join('\n')))
}

type DepositWithExplanation = DepositReport & { explanation: Explanation }

function documentOf({ explanation, ...shown }: DepositWithExplanation): object {
  const { assets } = shown
  return {
    ...shown,
    mismatches: shown.mismatches.map(mismatchDocument),
    explanation:
      'problem' in explanation
        ? explanation
        : { ...explanation, reasons: explanation.reasons.map((one) => reasonDocument(one, assets)) },
  }
}

function textOf({ explanation, ...shown }: DepositWithExplanation): string {
  const { deposit, matrix, mismatches, evidence, journals } = shown
  return [
    `deposit ${saidOf(deposit, 'id')}: ${saidOf(deposit, 'state')}\n`,
    factsText(depositFacts(shown), 10),
    '\n',
    indent(matrixTable(matrix)),
    section('mismatches', mismatches.length === 0 ? 'none\n' : mismatches.map(mismatchText).join('')),
    section('why', explanationText(explanation, shown.assets)),
    section('evidence', table(evidence, evidenceColumns)),
    section('journals', journals.length === 0 ? 'none\n' : journals.map(journalText).join('')),
  ].join('')
}
