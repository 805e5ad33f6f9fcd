import { type Html, html } from './html.ts'
import { depositList, mismatchList } from './lists.ts'
import { cardsOf } from './overview-cards.ts'
import {
  causesTable,
  moneyTable,
  partsTable,
  risksTable,
  stagesTable,
  statesTable,
  streamsTable,
} from './overview-tables.ts'
import { type ConsolePage, partHtml, sectionOf, timeOf } from './page.ts'
import type { Overview } from './reading.ts'
import { verdictOf } from './verdict.ts'

const refreshSeconds = 30

/** `isLive`: the page refreshes itself. `networks`: deposits of these can be listed. */
type OverviewPageOptions = { isLive: boolean; networks: readonly string[] }

/** The overview: verdict, numbers, mismatches, balances, waiting items, and the latest deposits. */
export function overviewPage(overview: Overview, { isLive, networks }: OverviewPageOptions): ConsolePage {
  const { readAt, gauges, health, gravest, latest } = overview
  const again = isLive
    ? html`<a href="/">Stop refreshing</a>`
    : html`<a href="/?refresh=${refreshSeconds}">Refresh every ${refreshSeconds} s</a>`
  const body = html`<h1 class="unseen">How it stands</h1>
${verdictOf(gauges, health)}
<p class="asof">As of ${timeOf(readAt)} · ${again}</p>
${cardsOf(gauges)}
${sectionOf(
  'What is wrong',
  partHtml(gravest, (rows) => mismatchList(rows, 'The gravest open mismatches')),
  wrongOf(overview),
)}
${moneyOf(overview, networks)}
${sectionOf(
  'Latest deposits',
  partHtml(latest, (rows) => depositList(rows, 'The latest deposits')),
)}
${workOf(overview)}`
  return { title: 'How it stands', entry: '/', body, ...(isLive && { refreshSeconds }) }
}

function wrongOf({ readAt, gauges: { live, totals } }: Overview): Html | null {
  if (live === null) return null
  return html`${causesTable(live.value, readAt)}${risksTable(live.value, totals?.value ?? null)}`
}

function moneyOf({ gauges: { totals } }: Overview, networks: readonly string[]): Html | null {
  if (totals === null) return null
  return html`${sectionOf('Where the money is', moneyTable(totals.value))}
${sectionOf('Deposits by state', statesTable(totals.value, networks))}`
}

function workOf({ gauges: { live, totals }, health }: Overview): Html {
  const waits = live === null ? null : sectionOf('What waits', stagesTable(live.value))
  const streams =
    live === null ? null : sectionOf('What is read', streamsTable(live.value, totals?.value ?? null))
  return html`${waits}${streams}${sectionOf('What works', partsTable(health))}`
}
