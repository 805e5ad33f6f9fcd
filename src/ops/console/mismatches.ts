import { mismatchKinds } from '../../core/mismatch.ts'
import { severities } from '../../core/mismatches/kind-entry.ts'
import {
  adviceOf,
  entryOf,
  historyColumns,
  type MismatchDetail,
  type MismatchRow,
  mismatchColumns,
  mismatchFacts,
} from '../../presentation/mismatch.ts'
import { mismatchSentence } from '../../presentation/mismatch-sentence.ts'
import { columnsFor, type Fact, type ServicesShown } from '../../presentation/text.ts'
import { bulkForms, caseForms, writeOffForm } from './case-forms.ts'
import { bundleLink } from './deposits.ts'
import { disputeLink } from './downloads.ts'
import {
  clip,
  factsOf,
  type Html,
  type HtmlContent,
  html,
  linkTo,
  tableOf,
  withShown,
  withTimes,
} from './html.ts'
import { markdownHtml } from './markdown.ts'
import { causesTable } from './overview-tables.ts'
import { badge, type ConsolePage, filterForm, pager, sectionOf, severityBadge } from './page.ts'
import { type ConsoleUser, may } from './people.ts'
import { numberOf, oneOf, readQuery, shortText } from './query.ts'
import type { ConsoleChoices, ConsoleMismatchFilter, Overview } from './reader.ts'

const historyMax = 200

export function mismatchPage(
  shown: MismatchDetail,
  {
    runbook,
    user,
    names,
    hasSeveralServices,
  }: ServicesShown & { runbook: string; user: ConsoleUser | null; names: readonly string[] },
): ConsolePage {
  const { mismatch, deposit, history } = shown
  const id = String(mismatch.id)
  const advice = adviceOf(shown)
  const facts = mismatchFacts(shown, { ...advice, hasSeveralServices }).filter(
    ({ name }) => name !== 'means' && name !== 'next',
  )
  const newest = history.slice(-historyMax)
  const cut = history.length - newest.length
  const body = html`<p class="crumbs"><a href="/mismatches">Mismatches</a></p>
<h1>Mismatch ${id}: ${mismatch.kind}</h1>
<p>${severityBadge(mismatch.severity)} ${badge('quiet', mismatch.status)}${isRegressed(shown) ? html` ${badge('warning', 'regressed')}` : null}</p>
<div class="advice"><p>${advice.means}</p><p><strong>Next:</strong> ${advice.next}</p></div>
${factsOf(facts.map((fact) => linked(fact, { mismatch, deposit })))}
${user === null ? null : sectionOf('Work on it', caseForms(mismatch, user, names))}
${user !== null && may(user, 'work on cases') && deposit !== null ? sectionOf('Write it off', writeOffForm(mismatch, user)) : null}
${sectionOf(
  'History',
  tableOf(newest, { caption: 'What became of it', columns: historyColumns(mismatch), empty: 'Nothing yet.' }),
  cut === 0 ? null : html`<p class="note">${cut} earlier entries are not shown.</p>`,
)}
${evidenceOf(shown, user)}
${sectionOf('At the command line', commandsFor(id, deposit?.id ?? null))}
${runbook === '' ? null : sectionOf('Runbook', html`<div class="runbook">${markdownHtml(runbook)}</div>`)}`
  return { title: `Mismatch ${id}: ${mismatch.kind}`, entry: '/mismatches', body }
}

/** Open again by new evidence, after a person put it aside. */
function isRegressed({ mismatch, history }: MismatchDetail): boolean {
  return (
    mismatch.status === 'open' &&
    history.some(({ action, actor }) => action === 'reopened' && actor === 'depositd')
  )
}

function linked(
  fact: Fact,
  { mismatch, deposit }: Pick<MismatchDetail, 'mismatch' | 'deposit'>,
): Fact & { show?: HtmlContent } {
  if (fact.name === 'about') return { ...fact, show: subjectLink(mismatch.subject) }
  if (fact.name !== 'deposit' || deposit === null) return fact
  return { ...fact, show: html`<a href="/deposits/${deposit.id}">${fact.lines[0] ?? ''}</a>` }
}

function evidenceOf({ mismatch, deposit }: MismatchDetail, user: ConsoleUser | null): Html | null {
  const isShort = mismatch.kind === 'settlement_short' && mismatch.status !== 'cleared'
  const dispute = isShort ? disputeLink(String(mismatch.id), user) : null
  return deposit && sectionOf('Evidence', bundleLink(deposit.id, user), dispute)
}

function commandsFor(id: string, depositId: string | null): Html {
  const lines = [
    `bin/depositd mismatches assign ${id} NAME`,
    `bin/depositd mismatches comment ${id} TEXT`,
    `bin/depositd mismatches snooze ${id} --until 24h`,
    `bin/depositd mismatches resolve ${id} --reason TEXT`,
    ...(depositId === null ? [] : [`bin/depositd deposits show ${depositId}`]),
  ]
  return html`<pre>${lines.map(
    (line) => html`<code>${line}</code>
`,
  )}</pre>`
}

const statuses = ['open', 'snoozed', 'all'] as const
const pageMax = 50

/** @throws Fault `request_refused` if a filter is unknown */
export function mismatchFilter(
  search: URLSearchParams,
  { services, networks }: ConsoleChoices,
): ConsoleMismatchFilter {
  const asked = readQuery(search, {
    kind: oneOf(Object.keys(mismatchKinds)),
    severity: oneOf(severities),
    service: oneOf(services),
    network: oneOf(networks),
    status: oneOf(statuses),
    assigned: shortText,
    overdue: oneOf(['yes'] as const),
    after: numberOf,
  })
  return { status: 'open', ...asked, limit: pageMax }
}

type MismatchesPageData = {
  rows: readonly MismatchRow[]
  wish: ConsoleMismatchFilter
  /** As in the address. */
  filter: string
  user: ConsoleUser | null
  /** Of those to whom the reader may assign. */
  names: readonly string[]
} & ConsoleChoices &
  ServicesShown

/** By severity and then age. */
export function mismatchesPage({
  rows,
  wish,
  filter,
  user,
  names,
  ...choices
}: MismatchesPageData): ConsolePage {
  const { kind, severity, service, network, status, assigned, overdue } = wish
  const { services, networks, hasSeveralServices } = choices
  const body = html`<h1>Mismatches</h1>
${caseTabs(filter === '' ? '/mismatches' : `/mismatches?${filter}`, user)}
${filterForm('/mismatches', [
  { name: 'severity', label: 'Severity', value: severity, words: severities, any: 'any' },
  { name: 'kind', label: 'Kind', value: kind, words: Object.keys(mismatchKinds).toSorted(), any: 'any' },
  ...(hasSeveralServices
    ? [{ name: 'service', label: 'Service', value: service, words: services, any: 'any' }]
    : []),
  { name: 'network', label: 'Network', value: network, words: networks, any: 'any' },
  { name: 'status', label: 'Status', value: status, words: statuses },
  { name: 'assigned', label: 'Assigned to', value: assigned },
  { name: 'overdue', label: 'Overdue', value: overdue, words: ['yes'], any: 'any' },
])}
<p class="note">${explained[status]}</p>
${mismatchList(rows, { caption: 'Mismatches, the gravest and oldest first', hasSeveralServices })}
${pager({ path: '/mismatches', wish, field: 'after', rows })}
${rows.length > 0 && user !== null && may(user, 'work on cases') ? sectionOf('All of this filter', bulkForms(filter, user, names)) : null}`
  return { title: 'Mismatches', entry: '/mismatches', body }
}

/** The lists that people work from. A filter is part of the address, so any other list is kept as a bookmark. */
function caseTabs(here: string, user: ConsoleUser | null): Html {
  const tabs: [name: string, path: string][] = [
    ['All', '/mismatches'],
    ['By cause', '/mismatches/causes'],
    ...(user === null
      ? []
      : [['Mine', linkTo('/mismatches', { assigned: user.person })] as [string, string]]),
    ['Unassigned', '/mismatches?assigned=nobody'],
    ['Overdue', '/mismatches?overdue=yes'],
    ['Snoozed', '/mismatches?status=snoozed'],
    ['Proposed matches', '/proposals'],
    ['Waiting for approval', '/decisions?state=waiting'],
  ]
  const links = tabs.map(
    ([name, path]) =>
      html`<li><a href="${path}"${path === here ? html` aria-current="true"` : null}>${name}</a></li>`,
  )
  return html`<nav class="tabs" aria-label="Lists of mismatches"><ul>${links}</ul></nav>`
}

/** One line for each incident. */
export function causesPage(
  overview: Overview,
  user: ConsoleUser | null,
  services: ServicesShown,
): ConsolePage {
  const live = overview.gauges.live?.value ?? null
  const table = live && causesTable(live, { ...services, now: overview.readAt })
  const body = html`<h1>Mismatches by cause</h1>
${caseTabs('/mismatches/causes', user)}
${table ?? html`<p class="empty">${live === null ? 'Cannot be read now.' : 'No open mismatches.'}</p>`}`
  return { title: 'Mismatches by cause', entry: '/mismatches', body }
}

const explained = {
  open: 'Unresolved mismatches, without snoozed ones.',
  snoozed: 'Unresolved mismatches, snoozed ones last.',
  all: 'All that ever were: open, then snoozed, resolved, and cleared by evidence.',
} as const

export function mismatchList(
  rows: readonly MismatchRow[],
  { caption, ...services }: ServicesShown & { caption: string },
): Html {
  return tableOf(rows, {
    caption,
    columns: columnsFor(listColumns, services),
    empty:
      'No mismatches. If sources disagree, it appears here with the next step; a filter may hide others.',
  })
}

const longestSubject = 120
const longestDetail = 240

function subjectLink(subject: string): HtmlContent {
  const [, id] = /^deposit\/([1-9]\d{0,17})$/.exec(subject) ?? []
  return id === undefined ? clip(subject, longestSubject) : html`<a href="/deposits/${id}">${subject}</a>`
}

const listColumns = withShown(mismatchColumns, {
  ID: ({ id }: MismatchRow) => html`<a href="/mismatches/${id}">${id}</a>`,
  SEVERITY: ({ severity }: MismatchRow) => severityBadge(severity),
  KIND: ({ id, kind }: MismatchRow) => html`<a href="/mismatches/${id}">${kind}</a>`,
  ABOUT: ({ subject }: MismatchRow) => subjectLink(subject),
  CASE: ({ status, regressed, assigned_to: name }: MismatchRow) =>
    html`${name === null ? status : `${status}, ${name}`}${regressed ? html` ${badge('warning', 'regressed')}` : null}`,
  'ACT IN': ({ act_in: left }: MismatchRow) => (left === 'overdue' ? badge('severe', left) : left),
  DETAIL: (row: MismatchRow) =>
    html`${withTimes(clip(mismatchSentence(row), longestDetail))}<p class="next">${entryOf(row.kind).next}</p>`,
})
