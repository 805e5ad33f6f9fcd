import { proposalColumns, scorecardColumns } from '../../presentation/lists.ts'
import { columnsFor, type ServicesShown } from '../../presentation/text.ts'
import type { ProposalLine } from '../../store/books/proposals.ts'
import type { ScorecardLine } from '../../store/scorecard.ts'
import { type Html, html, type ShownColumn, tableOf, withShown } from './html.ts'
import { stagesTable, streamsTable } from './overview-tables.ts'
import { type ConsolePage, filterForm, pager, partHtml, sectionOf } from './page.ts'
import { hidden } from './passkey-form.ts'
import { type ConsoleUser, may, mayRequest } from './people.ts'
import { numberOf, oneOf, readQuery } from './query.ts'
import type { ConsoleChoices, ConsoleProposalFilter, Overview, SectionResult } from './reader.ts'

const pageMax = 50

/** @throws Fault `request_refused` if a filter is unknown */
export function proposalFilter(search: URLSearchParams, { services }: ConsoleChoices): ConsoleProposalFilter {
  return { ...readQuery(search, { service: oneOf(services), after: numberOf }), limit: pageMax }
}

type ProposalsPageData = {
  rows: readonly ProposalLine[]
  wish: ConsoleProposalFilter
  user: ConsoleUser | null
} & ConsoleChoices &
  ServicesShown

export function proposalsPage({ rows, wish, user, services, ...shown }: ProposalsPageData): ConsolePage {
  const columns = withShown<ProposalLine>(columnsFor(proposalColumns, shown), {
    DEPOSIT: ({ deposit }) => html`<a href="/deposits/${deposit}">${deposit}</a>`,
  })
  const filter = shown.hasSeveralServices
    ? filterForm('/proposals', [
        { name: 'service', label: 'Service', value: wish.service, words: services, any: 'any' },
      ])
    : null
  const next = html`<p>Compare the reasons that are not fulfilled, and sign a <a href="/decisions">decision</a>: the transfer belongs to the deposit, or it does not.</p>
<pre>bin/depositd deposits match DEPOSIT --transfer TRANSFER --reason TEXT
bin/depositd deposits split DEPOSIT --transfer TRANSFER --reason TEXT</pre>
${mayRequest(user, 'match') ? matchForm(rows, user) : null}`
  const body = html`<p class="crumbs"><a href="/deposits">Deposits</a></p>
<h1>Proposed matches</h1>
<p class="note">Chain transfers that no source links to a deposit, each with the one deposit that it fits. They book nothing until a person or the policy accepts them.</p>
${filter}
${tableOf(rows, { caption: 'Proposed matches, the highest score first', columns, empty: 'No proposals: each final transfer is linked to a deposit, or fits none or several. Those that fit several are mismatches of the kind ambiguous_match.' })}
${pager({ path: '/proposals', wish, field: 'after', rows })}
${rows.length === 0 ? null : sectionOf('Next', next)}`
  return { title: 'Proposed matches', entry: '/deposits', body }
}

/** Leads to the draft, which the person signs. */
function matchForm(rows: readonly ProposalLine[], { formToken }: ConsoleUser): Html {
  const options = rows.map(({ deposit, role, transfer, amount, asset_symbol: symbol }) => {
    const what = role === 'deposit' ? 'payment' : 'delivery'
    return html`<option value="${`${deposit} ${role} ${transfer}`}">${`deposit ${deposit}: ${what} of ${amount} ${symbol}, ${transfer}`}</option>`
  })
  return html`<form class="act" method="post" action="/decisions/draft">${hidden('form', formToken)}
<label for="proposal">Proposal</label><select id="proposal" name="proposal">${options}</select>
<label for="action">Decision</label><select id="action" name="action"><option value="together">The transfer belongs to the deposit</option><option value="apart">It does not</option></select>
<label for="reason">Reason</label><input id="reason" name="reason" required maxlength="500" autocomplete="off">
<button type="submit">Prepare</button></form>`
}

/** How well each service reports and settles, and what is read of it and of the chains. */
export function servicesPage(
  {
    lines,
    overview,
    user,
  }: { lines: SectionResult<readonly ScorecardLine[]>; overview: Overview; user: ConsoleUser | null },
  shown: ServicesShown,
): ConsolePage {
  const live = overview.gauges.live?.value
  const waits = live && stagesTable(live, shown)
  const read = live && streamsTable(live)
  const body = html`<h1>Services</h1>
${may(user, 'see the settings') ? html`<p class="note"><a href="/settings">Active settings</a>: the policy and the services.</p>` : null}
${may(user, 'see event endpoints') ? html`<p class="note"><a href="/endpoints">Event endpoints</a>: your own systems that events are sent to.</p>` : null}
${may(user, 'run the doctor') ? html`<p class="note"><a href="/doctor">Doctor</a>: whether everything that depositd needs works, and the fix if not.</p>` : null}
${sectionOf('The last seven days', partHtml(lines, scorecard))}
${sectionOf('What is read', read ?? unread)}
${sectionOf('What waits', waits ?? unread)}`
  return { title: 'Services', entry: '/services', body }
}

const unread = html`<p class="empty">Cannot be read now.</p>`

function scorecard(lines: readonly ScorecardLine[]): Html {
  const columns: ShownColumn<ScorecardLine>[] = [
    { title: 'SERVICE', value: ({ service }) => service },
    ...scorecardColumns,
  ]
  return tableOf(lines, {
    caption: 'By service and route',
    columns,
    empty: 'No deposits in the last seven days.',
  })
}
