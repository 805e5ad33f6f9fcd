import { isFault } from '../../core/errors.ts'
import { transferColumns } from '../../presentation/deposit.ts'
import { journalColumns, journalKinds } from '../../presentation/journal.ts'
import type { JournalLine } from '../../store/ledger/journals.ts'
import { draftsOf } from './decision-routes.ts'
import { refused } from './forms.ts'
import { factsOf, type Html, type HtmlContent, html, tableOf, timeOf, withShown } from './html.ts'
import { type ConsolePage, filterForm, pager, sectionOf } from './page.ts'
import { hidden } from './passkey-form.ts'
import { type ConsoleUser, mayRequest, requesterOf } from './people.ts'
import { monthOf, numberOf, oneOf, readQuery, shortText } from './query.ts'
import type { ConsoleJournalFilter, ConsoleReader, JournalDetail } from './reader.ts'
import { type ConsoleAnswer, type ConsoleRequest, readNumbered } from './request.ts'

const pageMax = 50

/** @throws Fault `request_refused` if a filter is unknown */
function journalFilter(search: URLSearchParams): ConsoleJournalFilter {
  const fields = { period: monthOf, kind: oneOf(journalKinds), by: shortText, before: numberOf }
  return { ...readQuery(search, fields), limit: pageMax }
}

/** The newest first. */
function journalsPage(
  rows: readonly JournalLine[],
  wish: ConsoleJournalFilter,
  user: ConsoleUser | null,
): ConsolePage {
  const { period, kind, by } = wish
  const body = html`<p class="crumbs"><a href="/ledger">Ledger</a></p>
<h1>Journals</h1>
${mayRequest(user, 'journal') ? html`<p><a href="/ledger/journals/new">Book a journal by hand</a></p>` : null}
${filterForm('/ledger/journals', [
  { name: 'period', label: 'In the books of', value: period, type: 'month' },
  { name: 'kind', label: 'Kind', value: kind, words: journalKinds, any: 'any' },
  { name: 'by', label: 'Booked by', value: by },
])}
${tableOf(rows, { caption: 'Journals, the newest first', columns: listColumns, empty: 'No journals. They follow from final payments and deliveries; a filter may hide others.' })}
${pager({ path: '/ledger/journals', wish, field: 'before', rows: rows.map(({ id }) => ({ id: id.toString() })) })}`
  return { title: 'Journals', entry: '/ledger', body }
}

export function journalLink(id: bigint | null): HtmlContent {
  return id === null ? '' : html`<a href="/ledger/journals/${id}">${id}</a>`
}

const listColumns = withShown<JournalLine>(journalColumns, {
  JOURNAL: ({ id }) => journalLink(id),
  DEPOSIT: ({ deposit_id: id, changed_at: at }) =>
    id && html`<a href="/deposits/${id}">${id}</a>${at === null ? null : ' changed'}`,
  REVERSES: ({ reverses }) => journalLink(reverses),
  'REVERSED BY': ({ reversed_by: id }) => journalLink(id),
  DECISION: ({ made_by: by, decision_id: id }) => (by === null ? '' : decisionLink(id)),
})

function decisionLink(id: bigint | null | undefined): HtmlContent {
  return id == null ? 'not signed' : html`<a href="/decisions/${id}">${id}</a>`
}

function linked(name: string, show: HtmlContent) {
  return show === '' ? [] : [{ name, lines: [], show }]
}

function journalPage(journal: JournalDetail, user: ConsoleUser | null): ConsolePage {
  const { id, kind, key, place, transfers, depositId, reverses, reversedBy, byHand } = journal
  const title = `Journal ${id}: ${kind.replaceAll('_', ' ')}`
  const people = byHand && [
    { name: 'booked by', lines: [`${byHand.by}, approved by ${byHand.approvedBy}`] },
    { name: 'decision', lines: [], show: decisionLink(byHand.decision) },
    { name: 'reason', lines: [byHand.reason] },
  ]
  const facts = [
    { name: 'key', lines: [key] },
    { name: 'happened', lines: [], show: timeOf(journal.eventAt) },
    { name: 'recorded', lines: [], show: timeOf(journal.recordedAt) },
    { name: 'place', lines: [place] },
    ...linked('deposit', depositId === null ? '' : html`<a href="/deposits/${depositId}">${depositId}</a>`),
    ...linked('reverses journal', journalLink(reverses)),
    ...linked('reversed by journal', journalLink(reversedBy)),
    ...(people ?? []),
  ]
  const canReverse = (kind === 'manual' || kind === 'opening') && reversedBy === null
  const body = html`<p class="crumbs"><a href="/ledger">Ledger</a> / <a href="/ledger/journals">Journals</a></p>
<h1>${title}</h1>
${factsOf(facts)}
${tableOf(transfers, { caption: `Transfers of journal ${id}`, columns: transferColumns, empty: 'No transfers.' })}
${canReverse && mayRequest(user, 'reversal') ? sectionOf('Reverse', reversalForm(id, user)) : null}
${byHand === null ? html`<p class="note">It follows from evidence, and is reversed only if the evidence changes.</p>` : null}`
  return { title, entry: '/ledger', body }
}

/** Leads to the draft, which the person signs. */
function reversalForm(id: bigint, { formToken }: ConsoleUser): Html {
  return html`<form class="act" method="post" action="/ledger/journals/${id}">${hidden('form', formToken)}
<label for="reason">Reason</label><input id="reason" name="reason" required maxlength="500" autocomplete="off">
<button type="submit">Prepare</button></form>
<p class="note">Books the opposite, in an open month. A second person approves it.</p>`
}

const linesMax = 8

/** Of the form; empty lines are left out. @returns the journal as a file of it says it */
function journalOf(field: ConsoleRequest['field']): object {
  const written = (name: string) => (field(name) === '' ? {} : { [name]: field(name) })
  const mismatch = field('mismatch')
  const lines = Array.from({ length: linesMax }, (_, place) => {
    const parts = lineFields.map((name) => [name, field(`${name}-${place + 1}`)] as const)
    return Object.fromEntries(parts.filter(([, text]) => text !== ''))
  })
  return {
    date: field('date'),
    reason: field('reason'),
    ...written('reference'),
    ...written('deposit'),
    ...(mismatch !== '' && { mismatch: Number(mismatch) }),
    lines: lines.filter((line) => Object.keys(line).length > 0),
  }
}

const lineFields = ['debit', 'credit', 'amount', 'asset'] as const

type JournalChoices = { accounts: readonly string[]; assets: readonly string[] }

/** Works without script: the browser offers the accounts and assets. `problem`: of what is written; empty if there is none. */
function newJournalPage(
  { accounts, assets }: JournalChoices,
  { formToken }: ConsoleUser,
  { field, problem }: { field: ConsoleRequest['field']; problem: string },
): ConsolePage {
  const input = (name: string, label: string, more: Html) =>
    html`<div><label for="${name}">${label}</label><input id="${name}" name="${name}" value="${field(name)}" autocomplete="off"${more}></div>
`
  const long = html` maxlength="300"`
  const lines = Array.from({ length: linesMax }, (_, place) => {
    const line = place + 1
    return html`<fieldset><legend>Line ${line}</legend>
${input(`debit-${line}`, 'Debit', html` list="accounts"${long}`)}${input(`credit-${line}`, 'Credit', html` list="accounts"${long}`)}${input(`amount-${line}`, 'Amount', html` inputmode="decimal"${long}`)}${input(`asset-${line}`, 'Asset', html` list="assets"${long}`)}</fieldset>`
  })
  const body = html`<p class="crumbs"><a href="/ledger">Ledger</a> / <a href="/ledger/journals">Journals</a></p>
<h1>Journal by hand</h1>
${problem === '' ? null : html`<p class="problem" role="alert">${problem}</p>`}
<p class="note">For what no source reports: costs, corrections, repayments. A line with both accounts is complete; otherwise debits and credits of each asset must be equal. Amounts are in units, with a dot: 12.50. The next page shows what is booked, to sign it; a second person approves it. More lines, and the rules: bin/depositd ledger journal add FILE</p>
<form class="write" method="post" action="/ledger/journals">${hidden('form', formToken)}
${input('date', 'Date (UTC)', html` type="date" required`)}${input('reason', 'Reason', html` maxlength="500" required`)}${input('reference', 'Reference, if it has one: each is booked once', html` maxlength="100"`)}${input('deposit', 'Deposit that it is about', html` maxlength="200"`)}${input('mismatch', 'Mismatch that it is about', html` inputmode="numeric" pattern="[1-9][0-9]{0,17}"`)}
${lines}
${listOf('accounts', accounts)}${listOf('assets', assets)}
<button type="submit">Prepare</button></form>`
  return { title: 'Journal by hand', entry: '/ledger', body }
}

function listOf(id: string, options: readonly string[]): Html {
  return html`<datalist id="${id}">${options.map((one) => html`<option value="${one}"></option>`)}</datalist>`
}

export async function showJournals({ reader, user, search }: ConsoleRequest): Promise<ConsoleAnswer> {
  const wish = journalFilter(search)
  return journalsPage(await reader.journals(wish), wish, user)
}

export async function showJournal({ reader, user, search, id }: ConsoleRequest): Promise<ConsoleAnswer> {
  readQuery(search, {})
  return journalPage(await readNumbered('journal', id, reader.journal), user)
}

export async function showNewJournal({ reader, user, search }: ConsoleRequest): Promise<ConsoleAnswer> {
  readQuery(search, {})
  const person = requesterOf(user, 'journal')
  return newJournalPage(await choicesFor(reader), person, { field: () => '', problem: '' })
}

/** A journal with a problem comes back as it was written. */
export async function draftJournal({ reader, people, user, field }: ConsoleRequest): Promise<ConsoleAnswer> {
  const person = requesterOf(user, 'journal')
  try {
    return await draftsOf(people, person, [people.journalOf(journalOf(field))])
  } catch (error) {
    if (!isFault(error, 'usage_bad')) throw error
    const { problem, fix } = error.details
    return newJournalPage(await choicesFor(reader), person, { field, problem: `${problem}: ${fix}` })
  }
}

async function choicesFor(reader: ConsoleReader) {
  const { trial } = await reader.ledger()
  const lines = 'value' in trial ? trial.value.lines : []
  const accounts = new Set([...reader.ownAccounts, ...lines.map(({ account }) => account)])
  const assets = reader.networkSettings.flatMap(({ name, assets: own }) => own.map((one) => `${name}/${one}`))
  return { accounts: [...accounts].toSorted(), assets }
}

export async function draftReversal({ people, user, id, field }: ConsoleRequest): Promise<ConsoleAnswer> {
  const reason = field('reason')
  if (reason === '') throw refused('give a reason', 400)
  return draftsOf(people, requesterOf(user, 'reversal'), [
    { kind: 'reversal', change: { journal: id, reason } },
  ])
}
