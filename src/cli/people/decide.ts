import type { PeriodChangeResult } from '../../jobs/books/close-period.ts'
import { type DecisionResult, decideUnsigned, requestDecision } from '../../jobs/people/decide.ts'
import type { DecidedMoney } from '../../jobs/people/money-procedures.ts'
import { decidedJournals, type PeriodDecision } from '../../jobs/people/procedures.ts'
import type { JsonValue } from '../../people/decision.ts'
import type { DecisionKind } from '../../people/roles.ts'
import { transferColumns } from '../../presentation/deposit.ts'
import { placeOf } from '../../presentation/journal.ts'
import { type AssetNames, readAssetNames } from '../../store/assets.ts'
import type { BookedJournal } from '../../store/ledger/journals.ts'
import type { PeriodChange } from '../../store/ledger/periods.ts'
import { type Context, withDatabase } from '../context.ts'
import { journalDocument } from '../documents.ts'
import { print, printable, table } from '../print.ts'
import { ownSigner, unsignedNames, withDecisions } from './signing.ts'

type DecisionRequest = { kind: DecisionKind; change: JsonValue }

/** Of every command that decides: signs and prints, or decides without signatures by the names of `--break-glass`. */
export async function decideCommand(
  context: Context,
  request: DecisionRequest,
  breakGlass: string | undefined,
): Promise<void> {
  if (breakGlass !== undefined) {
    const names = unsignedNames(breakGlass)
    const result = await withDecisions(context, (deps) => decideUnsigned(deps, request, names))
    return printDone(context, request, { id: null, ...names, result })
  }
  const signer = ownSigner(context)
  const decided = await withDecisions(context, (deps) => requestDecision(deps, request, signer))
  if (decided.content.people === 1) return printDone(context, request, decided)
  await printWaiting(context, decided)
}

async function printWaiting(context: Context, { id, by, content }: DecisionResult): Promise<void> {
  const assets = await withDatabase(context, readAssetNames)
  const next = `decision ${id} is requested by ${by}; a second person signs it with\nbin/depositd decisions approve ${id}\n`
  const tables = decidedJournals(content.grounds).map((journal) => {
    const { transfers } = journalDocument(journal, assets)
    return `${journal.key}, ${placeOf(journal)}\n${table(transfers, transferColumns)}`
  })
  const books = tables.length === 0 ? 'it books no journal\n' : tables.join('')
  const document = { decision: id, state: 'waiting', kind: content.kind, by, books: content.grounds.books }
  print(context, document, printable(`${next}${books}`))
}

type DoneDecision = Pick<DecisionResult, 'by' | 'approvedBy' | 'result'> & { id: bigint | null }

export async function printDone(
  context: Context,
  { kind, change }: DecisionRequest,
  { id, by, approvedBy, result }: DoneDecision,
): Promise<void> {
  const assets = await withDatabase(context, readAssetNames)
  const { did, rest = '', document } = outcomes[kind]({ change, result, assets })
  const who = [`by ${by}`, ...(approvedBy === null ? [] : [`approved by ${approvedBy}`])]
  const signed = id === null ? 'not signed' : `decision ${id}`
  const shown = { decision: id, state: 'done', by, approvedBy, ...document }
  print(context, shown, printable(`${[did, ...who, signed].join(', ')}\n${rest}`))
}

type DecisionOutcomeText = { did: string; rest?: string; document: object }

type DoneChange = { change: JsonValue; result: unknown; assets: AssetNames }

const outcomes: Record<DecisionKind, (done: DoneChange) => DecisionOutcomeText> = {
  person: ({ change }) => ({ did: 'done', document: change as object }),
  journal: bookedJournal,
  reversal: bookedJournal,
  close: changedPeriod,
  reopen: changedPeriod,
  write_off: decidedMoney,
  match: decidedMoney,
}

function bookedJournal({ result, assets }: DoneChange): DecisionOutcomeText {
  const journal = result as BookedJournal
  const document = journalDocument(journal, assets)
  const did =
    journal.reverses === null
      ? `booked as journal ${journal.id}`
      : `journal ${journal.reverses} is reversed by journal ${journal.id}`
  return { did, rest: `${placeOf(journal)}\n${table(document.transfers, transferColumns)}`, document }
}

function changedPeriod({ change, result }: DoneChange): DecisionOutcomeText {
  const { period, action } = change as PeriodDecision
  const changed = result as PeriodChangeResult
  return {
    did: `${period} is ${actionTexts[action]}`,
    rest: linesOfChange(action, changed),
    document: { period, action, ...changed },
  }
}

function decidedMoney({ result }: DoneChange): DecisionOutcomeText {
  const { transfer, verdict } = result as DecidedMoney
  const did = {
    write_off: 'written off',
    write_off_withdrawn: 'no longer written off',
    together: 'matched with',
    apart: 'split from',
  }
  const where =
    'account' in verdict ? ` to ${verdict.account === 'owner' ? 'the owner' : verdict.account}` : ''
  const whose = 'serviceId' in verdict ? ` deposit ${verdict.serviceId}` : ''
  return { did: `${transfer}: ${did[verdict.kind]}${where}${whose}`, document: result as object }
}

const actionTexts = { soft_closed: 'soft-closed', closed: 'closed', reopened: 'reopened' } as const

/** Each ends its line. */
function linesOfChange(action: PeriodChange['action'], result: PeriodChangeResult): string {
  const { severeOpen, sha256, lines, severeElsewhere, revaluation } = result
  const shown = [
    ...(sha256 === null ? [] : [`trial balance of ${lines} lines, SHA-256 ${sha256}`]),
    ...(revaluation === null
      ? []
      : [`unrealised gains at its end: ${revaluation.gain} ${revaluation.currency}`]),
    ...(severeOpen === 0 ? [] : [`open severe mismatches up to the end of the month: ${severeOpen}`]),
    ...(action === 'reopened' || severeElsewhere.length === 0 ? [] : [warningOf(severeElsewhere)]),
  ]
  return shown.map((line) => `${line}\n`).join('')
}

function warningOf(severe: PeriodChangeResult['severeElsewhere']): string {
  const kinds = severe.map(({ kind, count }) => `${kind} ${count}`).join(', ')
  return `WARNING: later severe mismatches are open: ${kinds}; see "bin/depositd mismatches list --severity severe"`
}
