import {
  checkpointColumns,
  periodColumns,
  type StatementRow,
  statementColumns,
  type TrialBalanceRow,
  trialBalanceColumns,
} from '../../presentation/ledger.ts'
import { exportForm } from './downloads.ts'
import { refused } from './forms.ts'
import { type Html, html, linkTo, tableOf, timeOf, withShown } from './html.ts'
import { journalLink } from './journals.ts'
import { badge, type ConsolePage, filterForm, partHtml, sectionOf } from './page.ts'
import { hidden } from './passkey-form.ts'
import { type ConsoleUser, may, mayRequest } from './people.ts'
import { dayOf, readQuery, shortText } from './query.ts'
import type { ConsoleStatementFilter, LedgerReading } from './reader.ts'

export function ledgerPage(
  { readAt, trial, periods, checkpoints }: LedgerReading,
  user: ConsoleUser | null,
): ConsolePage {
  const body = html`<h1>Ledger</h1>
<p class="asof">As of ${timeOf(readAt)}</p>
${sectionOf('Trial balance', partHtml(trial, trialHtml), html`<p>${statementLink('', 'Statement of an owner or account')} · <a href="/ledger/journals">Journals</a></p>`)}
${sectionOf(
  'Months',
  partHtml(periods, (rows) =>
    tableOf(rows, {
      caption: 'Months, the newest first',
      columns: periodColumns,
      empty: 'Nothing is booked yet. Journals follow from final payments and deliveries.',
    }),
  ),
  mayRequest(user, 'close') ? monthForm(user) : null,
)}
${user !== null && may(user, 'export the books') ? sectionOf('Export', exportForm(user)) : null}
${sectionOf(
  'Checkpoints',
  partHtml(checkpoints, (rows) =>
    tableOf(rows, {
      caption: 'Checkpoints, the newest first',
      columns: checkpointColumns,
      empty: 'Nothing is sealed yet. The daemon seals new rows within a minute, by itself.',
    }),
  ),
  html`<p class="note">A checkpoint is the root of a hash tree over all sealed rows: bin/depositd ledger verify checks it against the rows.</p>`,
)}`
  return { title: 'Ledger', entry: '/ledger', body }
}

const monthActions = [
  ['closed', 'Close'],
  ['soft_closed', 'Soft-close'],
  ['reopened', 'Reopen'],
] as const

/** Leads to the draft, which the person signs. */
function monthForm({ formToken }: ConsoleUser): Html {
  const options = monthActions.map(([action, label]) => html`<option value="${action}">${label}</option>`)
  return html`<form class="act" method="post" action="/decisions/draft">${hidden('form', formToken)}
<label for="action">Action</label><select id="action" name="action">${options}</select>
<label for="period">Month</label><input id="period" name="period" type="month" required placeholder="2026-01" pattern="[0-9]{4}-[0-9]{2}">
<label for="reason">Reason</label><input id="reason" name="reason" maxlength="500" autocomplete="off">
<button type="submit">Prepare</button></form>`
}

type TrialBalanceData = { lines: readonly TrialBalanceRow[]; totals: readonly TrialBalanceRow[] }

function trialHtml({ lines, totals }: TrialBalanceData): Html {
  if (totals.length === 0)
    return html`<p class="empty">Nothing is booked yet. Journals follow from final payments and deliveries.</p>`
  return html`${totals.map((total) => assetHtml(total, lines))}
<p class="note">Sums are over all accounts, also over those that are not shown because there are too many.</p>`
}

/** The asset is in the heading. */
const shownColumns = withShown(
  trialBalanceColumns.filter(({ title }) => title !== 'SYMBOL' && title !== 'ASSET'),
  {
    ACCOUNT: ({ account }) =>
      account === '= sum' ? html`<strong>sum</strong>` : statementLink(account, account),
  },
)

function assetHtml(total: TrialBalanceRow, lines: readonly TrialBalanceRow[]): Html {
  const isBalanced = total.debit === total.credit
  const own = lines.filter(({ asset }) => asset === total.asset)
  const columns = shownColumns.filter(
    ({ title }) => title !== 'CODE' || own.some(({ code }) => code !== null),
  )
  return html`<h3>${total.asset_symbol} <small>${total.asset}</small> ${isBalanced ? badge('fine', 'balanced') : badge('severe', 'NOT balanced')}</h3>
${tableOf([...own, total], { caption: `Accounts of ${total.asset}`, columns, empty: '' })}
`
}

const linesMax = 500

/** @throws Fault `request_refused` if a filter is unknown or the end is before the beginning */
export function statementFilter(search: URLSearchParams, now: Date): ConsoleStatementFilter {
  const asked = readQuery(search, { owner: shortText, from: dayOf, to: dayOf })
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()]
  const { owner = '', from = dayText(Date.UTC(year, month)) } = asked
  const { to = dayText(Math.max(Date.UTC(year, month + 1, 0), Date.parse(from))) } = asked
  if (to < from) throw refused('the end is before the beginning: give a later end', 400)
  return { owner, from, to, limit: linesMax + 1 }
}

function dayText(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}

export function statementLink(owner: string, text: string): Html {
  return html`<a href="${linkTo('/ledger/statement', { owner })}">${text}</a>`
}

export function statementPage(
  rows: readonly StatementRow[],
  { owner, from, to }: ConsoleStatementFilter,
): ConsolePage {
  const title = owner === '' ? 'Statement' : `Statement of ${owner}`
  const body = html`<p class="crumbs"><a href="/ledger">Ledger</a></p>
<h1>${title}</h1>
${filterForm('/ledger/statement', [
  { name: 'owner', label: 'Owner or account', value: owner },
  { name: 'from', label: 'From', value: from, type: 'date' },
  { name: 'to', label: 'To the end of', value: to, type: 'date' },
])}
<p class="note">Days are in UTC. An owner is the id of a channel or wallet, like shop or channel:shop, as in the <a href="/addresses">address book</a>; an account is one of the <a href="/ledger">trial balance</a>. What is owed to an owner is positive.</p>
${tableOf(rows.slice(0, linesMax), {
  caption: 'Opening balance, changes and closing balance of each account',
  columns: shownStatementColumns,
  empty: owner === '' ? 'Give an owner or an account.' : `Nothing is booked for ${owner}.`,
})}
${rows.length > linesMax ? html`<p class="note">More lines are not shown. Give fewer days, or use the command line, which shows all of them:</p>` : null}
<pre>bin/depositd ledger statement OWNER --from ${from} --to ${to}</pre>`
  return { title, entry: '/ledger', body }
}

const shownStatementColumns = withShown(statementColumns, {
  AT: ({ event_at: at }) => timeOf(at),
  JOURNAL: ({ journal_id: id }) => journalLink(id),
  DEPOSIT: ({ deposit_id: id }) => id && html`<a href="/deposits/${id}">${id}</a>`,
})
