import { depositStates } from '../../core/judging/reconcile.ts'
import type { SavedView } from '../../core/saved-view.ts'
import {
  chainCellText,
  claimCellText,
  type DepositDetail,
  type DepositListRow,
  depositColumns,
  depositFacts,
  evidenceColumns,
  fieldText,
  journalTitle,
  matrixColumns,
  matrixRows,
  transferColumns,
} from '../../presentation/deposit.ts'
import { lossText } from '../../presentation/mismatch.ts'
import { mismatchSentence } from '../../presentation/mismatch-sentence.ts'
import { creditFact, reasonColumns } from '../../presentation/reasons.ts'
import { columnsFor, type ServicesShown } from '../../presentation/text.ts'
import {
  clip,
  factsOf,
  type Html,
  type HtmlContent,
  html,
  readable,
  type ShownColumn,
  tableOf,
  timeOf,
  withShown,
} from './html.ts'
import { badge, type ConsolePage, filterForm, pager, sectionOf, severityColumn, stateBadge } from './page.ts'
import type { ConsoleUser } from './people.ts'
import { numberOf, oneOf, readQuery, shortText } from './query.ts'
import type { ConsoleChoices, ConsoleDeposit, ConsoleDepositFilter } from './reader.ts'
import { depositTabs, listPath, viewForm } from './tabs.ts'

const journalsMax = 100

export function depositPage(
  shown: ConsoleDeposit,
  {
    explorers,
    user,
    ...services
  }: ServicesShown & Pick<ConsoleChoices, 'explorers'> & { user: ConsoleUser | null },
): ConsolePage {
  const { id, deposit, mismatches, evidence, isCut } = shown
  const body = html`<p class="crumbs"><a href="/deposits">Deposits</a></p>
<h1>Deposit ${id} ${stateBadge(fieldText(deposit, 'state'))}</h1>
${courseOf(deposit)}
${explorerLinks(deposit, explorers)}
${factsOf([...depositFacts(shown, services), creditFact(shown.credit, shown.explanation)])}
${sectionOf('Who says what', matrixTable(shown))}
${sectionOf(
  'Mismatches',
  tableOf(mismatches, { caption: 'Mismatches of this deposit', columns: mismatchColumns, empty: 'None.' }),
)}
${sectionOf('Why', explanationHtml(shown))}
${sectionOf(
  'Evidence',
  evidenceTable(evidence),
  isCut ? html`<p class="note">There is more: bin/depositd deposits show ${id} lists all of it.</p>` : null,
  bundleLink(id, user),
)}
${sectionOf('Journals', journalsHtml(shown))}`
  return { title: `Deposit ${id}`, entry: '/deposits', body }
}

/** Of the deposit that a mismatch is about: its course, what each source says, and the evidence, the oldest first. */
export function depositSummary(shown: ConsoleDeposit, explorers: ConsoleChoices['explorers']): HtmlContent {
  const { id, deposit, evidence, isCut } = shown
  return sectionOf(
    `Deposit ${id}`,
    courseOf(deposit),
    explorerLinks(deposit, explorers),
    matrixTable(shown),
    html`<details><summary>Evidence: ${evidence.length} rows${isCut ? ', and more' : null}</summary>
${evidenceTable(evidence)}</details>
<p><a href="/deposits/${id}">All of the deposit</a>, with the reasons for its state and its journals.</p>`,
  )
}

function evidenceTable(evidence: ConsoleDeposit['evidence']): Html {
  return tableOf(evidence, {
    caption: 'Evidence of this deposit',
    columns: evidenceColumns,
    empty: 'None.',
  })
}

function courseOf(deposit: DepositDetail['deposit']): Html {
  const steps = [
    ['paid', 'deposited_at'],
    ['final', 'final_at'],
    ['delivered', 'settled_at'],
    ['reconciled', 'reconciled_at'],
  ] as const
  const items = steps.map(([name, field]) => {
    const at = deposit[field]
    return at instanceof Date
      ? html`<li class="done"><span>${name}</span> ${timeOf(at)}</li>`
      : html`<li><span>${name}</span> not yet</li>`
  })
  return html`<ol class="course" aria-label="Its course">${items}</ol>`
}

/** Of both legs, as a third party shows them. */
function explorerLinks(
  deposit: DepositDetail['deposit'],
  explorers: ConsoleChoices['explorers'],
): Html | null {
  const legs = [
    ['Payment', 'network', 'tx'],
    ['Delivery', 'settlement_network', 'settlement_tx'],
  ] as const
  const links = legs.flatMap(([name, network, tx]) => {
    const [at, id] = [fieldText(deposit, network), deposit[tx]]
    const template = explorers.get(at)
    if (template === undefined || typeof id !== 'string') return []
    const address = template.replace('{tx}', encodeURIComponent(id))
    return [html`<li><a href="${address}" rel="noreferrer">${name} on ${at}, at the explorer</a></li>`]
  })
  return links.length === 0 ? null : html`<ul class="explorers">${links}</ul>`
}

/** Only for people who signed in: the audit log names the person who took a bundle. */
export function bundleLink(id: bigint | string, user: ConsoleUser | null): Html {
  return user === null
    ? html`<p class="note"><a href="/sign-in?to=/deposits/${id}">Sign in</a> to download the evidence bundle.</p>`
    : html`<p><a href="/deposits/${id}/evidence">Download the evidence bundle</a>: all of it in one file, which bin/depositd evidence verify checks without the database.</p>`
}

const signs: Readonly<Record<string, string>> = {
  agrees: '✓',
  differs: '✗',
  present: '…',
  absent: '○',
  not_applicable: '–',
}

function matrixTable({ matrix }: ConsoleDeposit): Html {
  const rows = matrixRows(matrix)
  const [, ...sources] = matrixColumns
  const heads = sources.map(
    ({ title }) => html`<th scope="col">${title === 'API' ? title : title.toLowerCase()}</th>`,
  )
  const lines = rows.map((row) => {
    const words = [
      [row.webhook, claimCellText(row.webhook)],
      [row.api, claimCellText(row.api)],
      [row.chain, chainCellText(row.chain)],
    ] as const
    const cells = words.map(
      ([cell, word]) =>
        html`<td class="cell ${cell}"><span aria-hidden="true">${signs[cell] ?? ''}</span> ${word}</td>`,
    )
    return html`<tr><th scope="row">${row.leg}</th>${cells}</tr>
`
  })
  return html`<table class="matrix"><caption>What each source says of the payment and its delivery</caption>
<thead><tr><td></td>${heads}</tr></thead>
<tbody>${lines}</tbody></table>`
}

const mismatchColumns: readonly ShownColumn<DepositDetail['mismatches'][number]>[] = [
  {
    title: 'ID',
    value: ({ id }) => id,
    show: ({ id }) => html`<a href="/mismatches/${id}">${id}</a>`,
    align: 'right',
  },
  severityColumn,
  { title: 'KIND', value: ({ kind }) => kind },
  { title: 'SINCE', value: ({ opened_at }) => opened_at.toISOString() },
  {
    title: 'CASE',
    value: ({ cleared_at, status }) => (cleared_at === null ? status : `cleared ${cleared_at.toISOString()}`),
  },
  { title: 'LOSS', value: lossText, align: 'right' },
  { title: 'DETAIL', value: (mismatch) => clip(mismatchSentence(mismatch), 400) },
]

function explanationHtml({ explanation, assets }: ConsoleDeposit): Html {
  return 'problem' in explanation
    ? html`<p class="empty">Not available: ${explanation.problem}</p>`
    : tableOf(explanation.reasons, {
        caption: 'Why it is judged so',
        columns: reasonColumns(assets),
        empty: 'Nothing.',
      })
}

function journalsHtml({ id, journals }: ConsoleDeposit): Html {
  if (journals.length === 0) return html`<p class="empty">Nothing is booked of it yet.</p>`
  const shown = journals.slice(0, journalsMax).map((journal) => {
    const title = journalTitle(journal)
    return html`<h3 class="journal">${readable(title)}</h3>
${tableOf(journal.transfers, { caption: title, columns: transferColumns, empty: '' })}`
  })
  const left = journals.length - shown.length
  return html`${shown}${left > 0 ? html`<p class="note">And ${left} more: bin/depositd deposits show ${id} lists all of them.</p>` : null}`
}

const pageMax = 50

/** @throws Fault `request_refused` if a filter is unknown */
export function depositFilter(
  search: URLSearchParams,
  { services, networks }: ConsoleChoices,
): ConsoleDepositFilter {
  const asked = readQuery(search, {
    state: oneOf(depositStates),
    owner: shortText,
    service: oneOf(services),
    network: oneOf(networks),
    before: numberOf,
  })
  return { ...asked, limit: pageMax }
}

type DepositsPageData = {
  rows: readonly DepositListRow[]
  wish: ConsoleDepositFilter
  /** As the address has it. */
  query: string
  views: readonly SavedView[]
  user: ConsoleUser | null
} & ConsoleChoices &
  ServicesShown

export function depositsPage({ rows, wish, query, views, user, ...choices }: DepositsPageData): ConsolePage {
  const { state, owner, service, network } = wish
  const { services, networks, hasSeveralServices } = choices
  const body = html`<h1>Deposits</h1>
${depositTabs(listPath('deposits', query), views)}
<p class="note"><a href="/proposals">Proposed matches</a>: chain transfers that no source links to a deposit.</p>
${filterForm('/deposits', [
  { name: 'state', label: 'State', value: state, words: depositStates, any: 'any but ignored' },
  ...(hasSeveralServices
    ? [{ name: 'service', label: 'Service', value: service, words: services, any: 'any' }]
    : []),
  { name: 'network', label: 'Network', value: network, words: networks, any: 'any' },
  { name: 'owner', label: 'Owner', value: owner },
])}
${viewForm({ page: 'deposits', query, views, user })}
${depositList(rows, { caption: 'Deposits, the newest first', hasSeveralServices })}
${pager({ path: '/deposits', wish, field: 'before', rows })}`
  return { title: 'Deposits', entry: '/deposits', body }
}

export function foundPage(reference: string, ids: readonly bigint[]): ConsolePage {
  const body = html`<h1>Deposits</h1>
<p>Several deposits are known by ${reference}:</p>
<ul>${ids.map((id) => html`<li><a href="/deposits/${id}">deposit ${id}</a></li>`)}</ul>`
  return { title: 'Deposits', entry: '/deposits', body }
}

export function depositList(
  rows: readonly DepositListRow[],
  { caption, ...services }: ServicesShown & { caption: string },
): Html {
  return tableOf(rows, {
    caption,
    columns: columnsFor(listColumns, services),
    empty:
      'No deposits. One appears as soon as a webhook, a record of the API or a payment on a chain reports it; a filter may hide others.',
  })
}

const listColumns = withShown(depositColumns, {
  ID: ({ id }: DepositListRow) => html`<a href="/deposits/${id}">${id}</a>`,
  STATE: ({ state }: DepositListRow) => stateBadge(state),
  MISMATCHES: ({ mismatches }: DepositListRow) => (mismatches === '' ? '' : badge('warning', mismatches)),
})
