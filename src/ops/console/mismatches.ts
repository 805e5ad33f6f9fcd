import type { OpenCause } from '../../core/cause.ts'
import { mismatchKinds } from '../../core/mismatch.ts'
import { severities } from '../../core/mismatches/kind-entry.ts'
import type { SavedView } from '../../core/saved-view.ts'
import { entryOf, type MismatchRow, mismatchColumns } from '../../presentation/mismatch.ts'
import { mismatchSentence } from '../../presentation/mismatch-sentence.ts'
import { columnsFor, type ServicesShown } from '../../presentation/text.ts'
import type { MentionLine } from '../../store/mismatches/mentions.ts'
import type { CaseAct } from '../../store/mismatches/undo.ts'
import { bulkForms, doneForm } from './case-forms.ts'
import {
  clip,
  type Html,
  type HtmlContent,
  html,
  readable,
  type ShownColumn,
  tableOf,
  timeOf,
  withShown,
} from './html.ts'
import { causesTable } from './overview-tables.ts'
import {
  badge,
  type ConsolePage,
  filterForm,
  pager,
  sectionOf,
  severityBadge,
  severityColumn,
} from './page.ts'
import { type ConsoleUser, may } from './people.ts'
import { numberOf, oneOf, readQuery, shortText, timeText } from './query.ts'
import type { ConsoleChoices, ConsoleMismatchFilter } from './reader.ts'
import { caseTabs, listPath, viewForm, viewQuery } from './tabs.ts'

const statuses = ['open', 'snoozed', 'all'] as const
const pageMax = 50
/** Of no single service or network. */
const none = 'none'

/** @throws Fault `request_refused` if a filter is unknown */
export function mismatchFilter(
  search: URLSearchParams,
  { services, networks }: ConsoleChoices,
): ConsoleMismatchFilter {
  const asked = readQuery(search, {
    kind: oneOf(Object.keys(mismatchKinds)),
    severity: oneOf(severities),
    service: oneOf([...services, none]),
    network: oneOf([...networks, none]),
    status: oneOf(statuses),
    assigned: shortText,
    overdue: oneOf(['yes'] as const),
    since: timeText,
    until: timeText,
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
  /** What was done just before. */
  done: CaseAct | null
  views: readonly SavedView[]
} & ConsoleChoices &
  ServicesShown

/** By severity and then age. */
export function mismatchesPage({
  rows,
  wish,
  filter,
  user,
  names,
  done,
  views,
  ...choices
}: MismatchesPageData): ConsolePage {
  const { kind, severity, service, network, status, assigned, overdue, since, until } = wish
  const { services, networks, hasSeveralServices } = choices
  const query = viewQuery(filter)
  const body = html`<h1>Mismatches</h1>
${doneForm(done, user, filter)}
${caseTabs(listPath('mismatches', query), user, views)}
${filterForm('/mismatches', [
  { name: 'severity', label: 'Severity', value: severity, words: severities, any: 'any' },
  { name: 'kind', label: 'Kind', value: kind, words: Object.keys(mismatchKinds).toSorted(), any: 'any' },
  ...(hasSeveralServices
    ? [{ name: 'service', label: 'Service', value: service, words: [...services, none], any: 'any' }]
    : []),
  { name: 'network', label: 'Network', value: network, words: [...networks, none], any: 'any' },
  { name: 'status', label: 'Status', value: status, words: statuses },
  { name: 'assigned', label: 'Assigned to', value: assigned },
  { name: 'overdue', label: 'Overdue', value: overdue, words: ['yes'], any: 'any' },
  { name: 'since', label: 'Opened since', value: since },
  { name: 'until', label: 'Opened before', value: until },
])}
${viewForm({ page: 'mismatches', query, views, user })}
<p class="note">${explained[status]}</p>
${mismatchList(rows, { caption: 'Mismatches, the gravest and oldest first', hasSeveralServices })}
${pager({ path: '/mismatches', wish, field: 'after', rows })}
${rows.length > 0 && user !== null && may(user, 'work on cases') ? sectionOf('All of this filter', bulkForms(filter, user, names)) : null}`
  return { title: 'Mismatches', entry: '/mismatches', body }
}

/** One line for each incident. */
export function causesPage(
  causes: readonly OpenCause[],
  user: ConsoleUser | null,
  choices: ConsoleChoices & ServicesShown,
): ConsolePage {
  const body = html`<h1>Mismatches by cause</h1>
${caseTabs('/mismatches/causes', user)}
${causesTable(causes, choices) ?? html`<p class="empty">No open mismatches.</p>`}`
  return { title: 'Mismatches by cause', entry: '/mismatches', body }
}

export const mentionsMax = 50

/** Comments that name this person. */
export function mentionsPage(
  rows: readonly MentionLine[],
  wish: { before: bigint | undefined; limit: number },
  user: ConsoleUser,
): ConsolePage {
  const body = html`<h1>Mentions</h1>
${caseTabs('/mismatches/mentions', user)}
<p class="note">Comments with @${user.person}, the newest first.</p>
${tableOf(rows, { caption: 'Comments that name you', columns: mentionColumns, empty: 'No comment names you.' })}
${pager({ path: '/mismatches/mentions', wish, field: 'before', rows: rows.map(({ id }) => ({ id: id.toString() })) })}`
  return { title: 'Mentions', entry: '/mismatches', body }
}

const mentionColumns: ShownColumn<MentionLine>[] = [
  {
    title: 'MISMATCH',
    value: ({ mismatch }) => mismatch.toString(),
    show: ({ mismatch }) => html`<a href="/mismatches/${mismatch}">${mismatch}</a>`,
    align: 'right',
  },
  severityColumn,
  { title: 'KIND', value: ({ kind }) => kind },
  { title: 'CASE', value: ({ status }) => status },
  { title: 'AT', value: ({ at }) => at.toISOString(), show: ({ at }) => timeOf(at) },
  { title: 'BY', value: ({ actor }) => actor },
  { title: 'COMMENT', value: ({ text }) => text },
]

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

export function subjectLink(subject: string): HtmlContent {
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
    html`${readable(clip(mismatchSentence(row), longestDetail))}<p class="next">${entryOf(row.kind).next}</p>`,
})
