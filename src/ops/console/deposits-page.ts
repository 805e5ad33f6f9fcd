import { depositStates } from '../../core/judging/reconcile.ts'
import { type DepositListRow } from '../../presentation/deposit.ts'
import { numberOf, oneOf, readQuery, shortText } from './asked.ts'
import { filterForm } from './filter-form.ts'
import { html } from './html.ts'
import { depositList } from './lists.ts'
import { type ConsolePage, pager } from './page.ts'
import type { DepositsWish } from './reading.ts'

const pageMax = 50

/** @throws Fault `request_refused` if a filter is unknown */
export function depositsWish(search: URLSearchParams, networks: readonly string[]): DepositsWish {
  const asked = readQuery(search, {
    state: oneOf(depositStates),
    owner: shortText,
    network: oneOf(networks),
    before: numberOf,
  })
  return { ...asked, limit: pageMax }
}

type DepositsPageData = { rows: readonly DepositListRow[]; wish: DepositsWish; networks: readonly string[] }

/** Deposits, the newest first. */
export function depositsPage({ rows, wish, networks }: DepositsPageData): ConsolePage {
  const { state, owner, network, before, limit } = wish
  const query = { state, owner, network, before: before?.toString() }
  const last = rows.length === limit ? (rows.at(-1)?.id ?? null) : null
  const body = html`<h1>Deposits</h1>
${filterForm('/deposits', [
  { name: 'state', label: 'State', value: state, words: depositStates, any: 'any but ignored' },
  { name: 'network', label: 'Network', value: network, words: networks, any: 'any' },
  { name: 'owner', label: 'Owner', value: owner },
])}
${depositList(rows, 'Deposits, the newest first')}
${pager('/deposits', query, { field: 'before', last })}`
  return { title: 'Deposits', entry: '/deposits', body }
}

/** Lists the deposits that share a reference, to choose from. */
export function foundPage(reference: string, ids: readonly bigint[]): ConsolePage {
  const body = html`<h1>Deposits</h1>
<p>Several deposits are known by ${reference}:</p>
<ul>${ids.map((id) => html`<li><a href="/deposits/${id}">deposit ${id}</a></li>`)}</ul>`
  return { title: 'Deposits', entry: '/deposits', body }
}
