import { type DepositListRow, depositColumns } from '../../presentation/deposit.ts'
import { entryOf, type MismatchRow, mismatchColumns } from '../../presentation/mismatch.ts'
import { mismatchSentence } from '../../presentation/mismatch-sentence.ts'
import { clip, type Html, type HtmlContent, html } from './html.ts'
import { badge, stateBadge, toneOfSeverity } from './page.ts'
import { tableOf, withShown } from './table.ts'

/** Lists of deposits and mismatches with the columns of the command line, and links. */

export function depositList(rows: readonly DepositListRow[], caption: string): Html {
  return tableOf(rows, { caption, columns: depositsShown, empty: 'No deposits.' })
}

export function mismatchList(rows: readonly MismatchRow[], caption: string): Html {
  return tableOf(rows, { caption, columns: mismatchesShown, empty: 'No mismatches.' })
}

/** Links the subject of a mismatch if it is a deposit. */
export function subjectLink(subject: string): HtmlContent {
  const [, id] = /^deposit\/([1-9]\d{0,17})$/.exec(subject) ?? []
  return id === undefined ? clip(subject, longestSubject) : html`<a href="/deposits/${id}">${subject}</a>`
}

const longestSubject = 120
const longestDetail = 240

const depositsShown = withShown(depositColumns, {
  ID: ({ id }: DepositListRow) => html`<a href="/deposits/${id}">${id}</a>`,
  STATE: ({ state }: DepositListRow) => stateBadge(state),
  MISMATCHES: ({ mismatches }: DepositListRow) => (mismatches === '' ? '' : badge('warning', mismatches)),
})

const mismatchesShown = withShown(mismatchColumns, {
  ID: ({ id }: MismatchRow) => html`<a href="/mismatches/${id}">${id}</a>`,
  SEVERITY: ({ severity }: MismatchRow) => badge(toneOfSeverity(severity), severity),
  KIND: ({ id, kind }: MismatchRow) => html`<a href="/mismatches/${id}">${kind}</a>`,
  ABOUT: ({ subject }: MismatchRow) => subjectLink(subject),
  'ACT IN': ({ act_in: left }: MismatchRow) => (left === 'overdue' ? badge('severe', left) : left),
  DETAIL: (row: MismatchRow) =>
    html`${clip(mismatchSentence(row), longestDetail)}<p class="next">${entryOf(row.kind).next}</p>`,
})
