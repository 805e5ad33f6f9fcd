import { mismatchKinds } from '../../core/mismatch.ts'
import { type MismatchRow } from '../../presentation/mismatch.ts'
import { severities } from '../metrics/deposits.ts'
import { numberOf, oneOf, readQuery } from './asked.ts'
import { filterForm } from './filter-form.ts'
import { html } from './html.ts'
import { mismatchList } from './lists.ts'
import { type ConsolePage, pager } from './page.ts'
import type { MismatchesWish } from './reading.ts'

const statuses = ['open', 'snoozed', 'all'] as const
const pageMax = 50

/** @throws Fault `request_refused` if a filter is unknown */
export function mismatchesWish(search: URLSearchParams, networks: readonly string[]): MismatchesWish {
  const asked = readQuery(search, {
    kind: oneOf(Object.keys(mismatchKinds)),
    severity: oneOf(severities),
    network: oneOf(networks),
    status: oneOf(statuses),
    after: numberOf,
  })
  return { status: 'open', ...asked, limit: pageMax }
}

type MismatchesPageData = { rows: readonly MismatchRow[]; wish: MismatchesWish; networks: readonly string[] }

/** The open mismatches, by severity and then age, each with the next step. */
export function mismatchesPage({ rows, wish, networks }: MismatchesPageData): ConsolePage {
  const { kind, severity, network, status, after, limit } = wish
  const query = { kind, severity, network, status, after: after?.toString() }
  const last = rows.length === limit ? (rows.at(-1)?.id ?? null) : null
  const body = html`<h1>Mismatches</h1>
${filterForm('/mismatches', [
  { name: 'severity', label: 'Severity', value: severity, words: severities, any: 'any' },
  { name: 'kind', label: 'Kind', value: kind, words: Object.keys(mismatchKinds).toSorted(), any: 'any' },
  { name: 'network', label: 'Network', value: network, words: networks, any: 'any' },
  { name: 'status', label: 'Status', value: status, words: statuses },
])}
<p class="note">${explained[status]}</p>
${mismatchList(rows, 'Mismatches, the gravest and oldest first')}
${pager('/mismatches', query, { field: 'after', last })}`
  return { title: 'Mismatches', entry: '/mismatches', body }
}

const explained = {
  open: 'Unresolved mismatches, without snoozed ones.',
  snoozed: 'Unresolved mismatches, snoozed ones last.',
  all: 'All that ever were: open, then snoozed, resolved, and cleared by evidence.',
} as const
