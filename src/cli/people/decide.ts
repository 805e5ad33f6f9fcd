import type { RuleChange } from '../../core/rule-set.ts'
import type { PeriodChangeResult } from '../../jobs/books/close-period.ts'
import type { BookedOpening } from '../../jobs/books/open-books.ts'
import type { AddressChange, AddressChangeResult } from '../../jobs/people/address-procedures.ts'
import { type DecisionResult, decideUnsigned, requestDecision } from '../../jobs/people/decide.ts'
import { decidedJournals } from '../../jobs/people/decided-journals.ts'
import type { DecidedMoney, ResolveChange } from '../../jobs/people/money-procedures.ts'
import type { OpeningChange } from '../../jobs/people/opening-procedure.ts'
import type { PeriodDecision } from '../../jobs/people/procedures.ts'
import type { RestoreResult } from '../../jobs/people/restore-procedure.ts'
import type { DecisionContent, JsonValue } from '../../people/decision.ts'
import type { DecisionKind } from '../../people/roles.ts'
import {
  addressColumns,
  addressLines,
  resolutionColumns,
  resolutionLines,
  ruleColumns,
  ruleLines,
} from '../../presentation/decision.ts'
import { type TransferLine, transferColumns } from '../../presentation/deposit.ts'
import { placeOf } from '../../presentation/journal.ts'
import { openingFacts, openingLinesShown } from '../../presentation/opening.ts'
import { type AssetNames, readAssetNames } from '../../store/assets.ts'
import type { BookedJournal } from '../../store/ledger/journals.ts'
import type { PeriodChange } from '../../store/ledger/periods.ts'
import { type Context, withDatabase } from '../context.ts'
import { journalDocument } from '../documents.ts'
import { openingDocument, openingText } from '../ledger/opening-text.ts'
import { print, printable, table } from '../print.ts'
import { restoredText } from './restored-text.ts'
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
  const next = `decision ${id} is requested by ${by}; a second person signs it with\nbin/depositd decisions approve ${id}\n`
  const document = { decision: id, state: 'waiting', kind: content.kind, by, books: content.grounds.books }
  print(context, document, printable(`${next}${await booksText(context, content)}`))
}

/** What a decision books. @param isWhole with every line of opening balances */
export async function booksText(
  context: Context,
  { kind, change, grounds }: DecisionContent,
  isWhole = false,
): Promise<string> {
  if (kind === 'addresses') return table(addressLines(grounds.books), addressColumns)
  if (kind === 'policy') return policyText(ruleLines(grounds.books))
  if (kind === 'resolve') {
    const names = await withDatabase(context, readAssetNames)
    return `it books nothing, and resolves\n${table(resolutionLines(grounds.books, names), resolutionColumns)}`
  }
  const journals = decidedJournals(grounds)
  if (journals.length === 0) return 'it books no journal\n'
  const assets = await withDatabase(context, readAssetNames)
  const tables = journals.map((journal) => {
    const { transfers } = journalDocument(journal, assets)
    const title = `${journal.key}, ${placeOf(journal)}\n`
    if (kind !== 'opening' || isWhole) return title + table(transfers, transferColumns)
    return title + openingLines((change as OpeningChange).file, transfers)
  })
  return tables.join('')
}

function openingLines(file: string | null, transfers: readonly TransferLine[]): string {
  const facts = openingFacts(file, transfers).map(({ name, lines }) => `  ${name}: ${lines.join('; ')}\n`)
  const left = transfers.length - openingLinesShown
  const rest = left > 0 ? `and ${left} more lines; decisions approve --whole shows them\n` : ''
  return facts.join('') + table(transfers.slice(0, openingLinesShown), transferColumns) + rest
}

function policyText(changes: readonly RuleChange[]): string {
  if (changes.length === 0) return 'it books nothing, and approves the active policy as it is\n'
  return `it books nothing, and changes\n${table(changes, ruleColumns)}`
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
  resolve: resolvedMismatches,
  addresses: changedAddresses,
  opening: openedBooks,
  restore: restoredBooks,
  policy: () => ({
    did: 'the policy is active',
    rest: 'all stored evidence is decided again\n',
    document: {},
  }),
}

function openedBooks({ result, assets }: DoneChange): DecisionOutcomeText {
  const opening = result as BookedOpening
  const { rows, replaced } = openingText(opening, { assets, limit: openingLinesMax })
  const did = `booked as journal ${opening.id}`
  const rest = `${placeOf(opening)}\n${rows}${replaced}\n`
  return { did, rest, document: openingDocument(opening, assets) }
}

const openingLinesMax = 1000

function restoredBooks({ result }: DoneChange): DecisionOutcomeText {
  const { restored } = result as RestoreResult
  if (restored === null) throw new Error('invariant broken: a restore has ended')
  const rest = `${restoredText(restored)}compare with "bin/depositd rebuild --verify"\n`
  return { did: 'the books are restored', rest, document: { restored } }
}

function changedAddresses({ change, result }: DoneChange): DecisionOutcomeText {
  const wanted = change as AddressChange
  const changed = result as AddressChangeResult
  if ('ended' in changed && wanted.action === 'end') {
    const { owner, until, reason } = wanted
    const news = until === null ? 'valid again' : `valid until ${until}, and watched further on`
    const lines = changed.ended.map((one) => `${one.network.padEnd(10)} ${one.address} is ${news}\n`)
    const document = { owner, validUntil: until, addresses: changed.ended, reason }
    const count = changed.ended.length
    return { did: count === 1 ? '1 address' : `${count} addresses`, rest: lines.join(''), document }
  }
  const { added, entries } = changed as Extract<AddressChangeResult, { added: number }>
  const did = `${added === 1 ? '1 owner' : `${added} owners`} added; all their addresses are watched`
  return { did, rest: table(addressLines(entries), addressColumns), document: { added, entries } }
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

function resolvedMismatches({ change }: DoneChange): DecisionOutcomeText {
  const { mismatches } = change as ResolveChange
  const did = `${mismatches.length === 1 ? 'mismatch' : 'mismatches'} ${mismatches.join(', ')} resolved`
  return { did, document: { mismatches } }
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
