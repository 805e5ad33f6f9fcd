import { toTxId } from '../../core/asset.ts'
import { rulesOf } from '../../core/decide.ts'
import type { Matrix } from '../../core/judging/matrix.ts'
import { explainDeposit } from '../../jobs/books/decide-again.ts'
import {
  type DepositDetail,
  depositColumns,
  depositFacts,
  evidenceColumns,
  fieldText,
  journalTitle,
  matrixColumns,
  matrixRows,
  mismatchText,
  transferColumns,
} from '../../presentation/deposit.ts'
import { proposalColumns } from '../../presentation/lists.ts'
import type { AssetLabels } from '../../presentation/mismatch-sentence.ts'
import { creditFact, type Explanation, reasonDocument, reasonText } from '../../presentation/reasons.ts'
import { columnsFor, type Fact, type ServicesShown } from '../../presentation/text.ts'
import { type DepositLine, listDeposits } from '../../store/books/list-deposits.ts'
import { listProposals, type ProposalLine } from '../../store/books/proposals.ts'
import { type DepositReport, showDeposits } from '../../store/books/show-deposits.ts'
import type { Database } from '../../store/database.ts'
import type { Tables } from '../../store/tables.ts'
import { type Context, settingsOrProblem, withDatabase } from '../context.ts'
import { mismatchDocument } from '../documents.ts'
import { checkFilters } from '../filters.ts'
import { idIn, type ListKeyset, type ListOptions, printList, readPage } from '../lists.ts'
import { noDeposit, onlyOne } from '../options.ts'
import { print, printable, table } from '../print.ts'

type DepositFilters = { state?: string; service?: string; network?: string; owner?: string }

const paging: ListKeyset<DepositLine> = { list: 'deposits', keyOf: ({ id }) => [id] }

export async function listDepositsCommand(
  context: Context,
  { state, service, network, owner, ...options }: ListOptions & DepositFilters,
): Promise<void> {
  const { page, services } = await withDatabase(context, async (db) => ({
    services: await checkFilters(context, db, { service, network, owner }),
    page: await readPage(options, paging, ({ limit, after }) =>
      listDeposits(db, { state, service, network, owner, limit, before: idIn(after) }),
    ),
  }))
  printList(context, page, { columns: columnsFor(depositColumns, services), empty: 'no deposits' })
}

export async function showCurrentDeposit(context: Context, id: string): Promise<void> {
  const read = settingsOrProblem(context)
  const { shown, services } = await withDatabase(context, async (db) => {
    const found = await showDeposits(db, toTxId(id))
    if (found.length === 0) throw noDeposit(id)
    const printed = context.json ? [onlyOne(id, found)] : found
    const explained = printed.map(async (one) => ({ ...one, explanation: await explainShown(db, one, read) }))
    return { shown: await Promise.all(explained), services: await checkFilters(context, db, {}) }
  })
  const texts = shown.map((one) => textOf(one, services))
  print(context, shown.map(documentOf)[0], printable(texts.join('\n')))
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

function textOf({ explanation, ...shown }: DepositWithExplanation, services: ServicesShown): string {
  const { deposit, matrix, mismatches, evidence, journals } = shown
  return [
    `deposit ${fieldText(deposit, 'id')}: ${fieldText(deposit, 'state')}\n`,
    factsText([...depositFacts(shown, services), creditFact(shown.credit, explanation)], 10),
    '\n',
    indent(matrixTable(matrix)),
    section('mismatches', mismatches.map(mismatchText)),
    section('why', explanationTexts(explanation, shown.assets)),
    section('evidence', [table(evidence, evidenceColumns)]),
    section('journals', journals.map(journalText)),
  ].join('')
}

async function explainShown(
  db: Database<Tables>,
  shown: { id: bigint; groupId: bigint },
  read: ReturnType<typeof settingsOrProblem>,
): Promise<Explanation> {
  if ('problem' in read) return { problem: `the settings cannot be read: ${read.problem}` }
  return explainDeposit(db, shown, rulesOf(read.settings))
}

function explanationTexts(explanation: Explanation, assets: AssetLabels): string[] {
  return 'problem' in explanation
    ? [`not available: ${explanation.problem}\n`]
    : explanation.reasons.map((reason) => reasonText(reason, assets))
}

const proposalPaging: ListKeyset<ProposalLine> = { list: 'proposals', keyOf: ({ id }) => [id] }

export async function listProposalsCommand(
  context: Context,
  { service, ...options }: ListOptions & { service?: string },
): Promise<void> {
  const { page, services } = await withDatabase(context, async (db) => ({
    services: await checkFilters(context, db, { service }),
    page: await readPage(options, proposalPaging, ({ limit, after }) =>
      listProposals(db, { limit, after: idIn(after), service }),
    ),
  }))
  printList(context, page, { columns: columnsFor(proposalColumns, services), empty: 'no proposals' })
}

export function matrixTable(matrix: Matrix): string {
  return table(matrixRows(matrix), matrixColumns)
}

export function journalText(journal: DepositDetail['journals'][number]): string {
  return `${journalTitle(journal)}\n${indent(table(journal.transfers, transferColumns))}`
}

export function factsText(facts: readonly Fact[], width: number): string {
  return facts
    .flatMap(({ name, lines }) =>
      lines.map((line, place) => `  ${(place === 0 ? name : '').padEnd(width)} ${line}\n`),
    )
    .join('')
}

export function section(title: string, texts: readonly string[]): string {
  return `\n  ${title}\n${indent(indent(texts.join('') || 'none\n'))}`
}

export function indent(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '  ')
}
