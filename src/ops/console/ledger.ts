import {
  checkpointColumns,
  periodColumns,
  type TrialBalanceRow,
  trialBalanceColumns,
} from '../../presentation/ledger.ts'
import { type Html, html, tableOf, withShown } from './html.ts'
import { badge, type ConsolePage, partHtml, sectionOf, timeOf } from './page.ts'
import { hidden } from './passkey-form.ts'
import type { ConsoleUser } from './people.ts'
import type { LedgerReading } from './reader.ts'

export function ledgerPage(
  { readAt, trial, periods, checkpoints }: LedgerReading,
  user: ConsoleUser | null,
): ConsolePage {
  const body = html`<h1>Ledger</h1>
<p class="asof">As of ${timeOf(readAt)}</p>
${sectionOf('Trial balance', partHtml(trial, trialHtml))}
${sectionOf(
  'Months',
  partHtml(periods, (rows) =>
    tableOf(rows, {
      caption: 'Months, the newest first',
      columns: periodColumns,
      empty: 'Nothing is booked yet.',
    }),
  ),
  user?.roles.includes('accountant') ? monthForm(user) : null,
)}
${sectionOf(
  'Checkpoints',
  partHtml(checkpoints, (rows) =>
    tableOf(rows, {
      caption: 'Checkpoints, the newest first',
      columns: checkpointColumns,
      empty: 'Nothing is sealed yet.',
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
  if (totals.length === 0) return html`<p class="empty">Nothing is booked yet.</p>`
  return html`${totals.map((total) => assetHtml(total, lines))}
<p class="note">Sums are over all accounts, also over those that are not shown because there are too many.</p>`
}

/** The asset is in the heading. */
const shownColumns = withShown(
  trialBalanceColumns.filter(({ title }) => title !== 'SYMBOL' && title !== 'ASSET'),
  { ACCOUNT: ({ account }) => (account === '= sum' ? html`<strong>sum</strong>` : account) },
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
