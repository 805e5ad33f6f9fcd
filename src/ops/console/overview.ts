import type { Severity } from '../../core/mismatch.ts'
import { duration } from '../../presentation/text.ts'
import type { StoreTotals } from '../../store/gauges.ts'
import type { GaugeValues, Live, ReportedGauges } from '../gauges.ts'
import type { ReadinessReport } from '../readiness.ts'
import { depositList } from './deposits.ts'
import { type Html, html, timeOf } from './html.ts'
import { mismatchList } from './mismatches.ts'
import { networksTable } from './networks.ts'
import { overviewCharts } from './overview-charts.ts'
import {
  assetText,
  type CausesShown,
  causesTable,
  moneyTable,
  partsTable,
  risksTable,
  stagesTable,
  statesTable,
  streamsTable,
  unitsText,
} from './overview-tables.ts'
import { type ConsolePage, partHtml, sectionOf, type Tone } from './page.ts'
import type { Overview } from './reader.ts'

const refreshSeconds = 30

/** `isLive`: the page refreshes itself. `networks`: their deposits can be listed. */
type OverviewPageOptions = CausesShown & { isLive: boolean }

export function overviewPage(
  overview: Overview,
  { isLive, services, networks, hasSeveralServices }: OverviewPageOptions,
): ConsolePage {
  const { readAt, gauges, health, gravest, latest, charts } = overview
  const figures = figuresOf(gauges)
  const { live, totals } = figures
  const again = isLive
    ? html`<a href="/">Stop refreshing</a>`
    : html`<a href="/?refresh=${refreshSeconds}">Refresh every ${refreshSeconds} s</a>`
  const body = html`<h1 class="unseen">How it stands</h1>
${verdictOf(figures, health)}
<p class="asof">As of ${timeOf(readAt)} · ${again} · <a href="#chart-deposits">Charts</a></p>
${cardsOf(figures)}
${sectionOf(
  'What is wrong',
  partHtml(gravest, (rows) =>
    mismatchList(rows, { caption: 'The gravest open mismatches', hasSeveralServices }),
  ),
  live && [
    live.causes.length === 0 ? null : html`<h3>By cause</h3>`,
    causesTable(live.causes, { hasSeveralServices, services, networks }),
    risksTable(live, { hasSeveralServices, totals }),
  ],
)}
${sectionOf('Charts', partHtml(charts, overviewCharts))}
${totals && [sectionOf('Where the money is', moneyTable(totals)), sectionOf('Deposits by state', statesTable(totals, networks))]}
${sectionOf(
  'Latest deposits',
  partHtml(latest, (rows) => depositList(rows, { caption: 'The latest deposits', hasSeveralServices })),
)}
${live && [sectionOf('What waits', stagesTable(live, { hasSeveralServices })), sectionOf('Networks', networksTable(networks, { live, totals })), sectionOf('What else is read', streamsTable(live))]}
${sectionOf('What works', partsTable(health))}`
  return { title: 'How it stands', entry: '/', body, ...(isLive && { refreshSeconds }) }
}

/** Null for what could not be read. */
type Figures = { live: Live | null; totals: StoreTotals | null; queue: GaugeValues['queue'] | null }

function figuresOf({ live, totals, queue }: ReportedGauges): Figures {
  return { live: live?.value ?? null, totals: totals?.value ?? null, queue: queue?.value ?? null }
}

/** A section that could not be read has no card. */
function cardsOf({ live, totals, queue }: Figures): Html {
  const cards = [
    totals && booksCard(totals, live),
    live && mismatchesCard(live),
    live && waitingCard(live),
    totals && depositsCard(totals),
    live && inboxCard(live),
    queue && queueCard(queue),
  ]
  return html`<ul class="cards">${cards.map((card) => card && cardOf(card))}</ul>
`
}

type Card = { name: string; value: string; note: string; tone: Tone; path?: string }

function cardOf({ name, value, note, tone, path }: Card): Html {
  const title = path === undefined ? html`${name}` : html`<a href="${path}">${name}</a>`
  return html`<li class="card ${tone}"><h2>${title}</h2><p class="value">${value}</p><p class="note">${note}</p></li>
`
}

function booksCard({ imbalances }: StoreTotals, live: Live | null): Card {
  const isBalanced = !imbalances.some(isOff)
  const off = live?.untied.filter(isOff).length ?? 0
  const note = [
    ...(off === 0 ? [] : [`${off} controls do not tie`]),
    ...(live === null ? [] : [sealText(live)]),
  ]
  return {
    name: 'Books',
    value: isBalanced ? 'balanced' : 'NOT balanced',
    note: note.join('; '),
    tone: isBalanced && off === 0 ? 'fine' : 'severe',
    path: '/ledger',
  }
}

function isOff({ units }: { units: number }): boolean {
  return units !== 0
}

function sealText({ sealAge }: Live): string {
  return sealAge === 0 ? 'all rows are sealed' : `oldest unsealed row ${duration(sealAge)}`
}

function mismatchesCard(live: Live): Card {
  const [severe, warning, info] = [openOf(live, 'severe'), openOf(live, 'warning'), openOf(live, 'info')]
  const total = severe + warning + info
  const oldest = Math.max(0, ...live.mismatches.map((one) => one.oldest))
  const tone = severe > 0 ? 'severe' : warning > 0 ? 'warning' : 'fine'
  const note =
    total === 0 ? 'none' : `${severe} severe, ${warning} warning, ${info} info; oldest ${duration(oldest)}`
  return { name: 'Open mismatches', value: `${total}`, note, tone, path: '/mismatches' }
}

function waitingCard({ stages }: Live): Card {
  const [oldest] = stages.toSorted((left, right) => right.oldest - left.oldest)
  const name = 'Oldest still open'
  if (oldest === undefined) return { name, value: 'none', note: 'nothing waits', tone: 'fine' }
  const place = oldest.network === '' ? '' : ` on ${oldest.network}`
  const note = `${oldest.stage.replaceAll('_', ' ')}${place}`
  return { name, value: duration(oldest.oldest), note, tone: 'quiet' }
}

function depositsCard({ deposits }: StoreTotals): Card {
  const total = countOf(deposits.filter(({ state }) => state !== 'ignored'))
  const done = countOf(deposits.filter(({ state }) => state === 'reconciled'))
  return { name: 'Deposits', value: `${total}`, note: `${done} reconciled`, tone: 'quiet', path: '/deposits' }
}

function inboxCard({ inbox, quarantine }: Live): Card {
  const refused = countOf(quarantine)
  const kept = refused === 0 ? '' : `; ${refused} in quarantine`
  const waits = inbox.pending === 0 ? 'nothing waits to be applied' : `oldest ${duration(inbox.oldest)}`
  const tone = inbox.oldest > 60 ? 'warning' : 'quiet'
  return { name: 'Inbox', value: `${inbox.pending}`, note: `${waits}${kept}`, tone }
}

function queueCard(jobs: Readonly<Record<string, number>>): Card {
  const others = Object.entries(jobs).filter(([state, count]) => state !== 'waiting' && count > 0)
  const note = others.map(([state, count]) => `${count} ${state}`).join(', ') || 'nothing else'
  return { name: 'Queue', value: `${jobs.waiting ?? 0} waiting`, note, tone: 'quiet' }
}

/** The most severe first; a single sentence if nothing is wrong. */
function verdictOf(figures: Figures, { unready, warnings }: ReadinessReport): Html {
  const { live } = figures
  const severe = [
    ...missingFigures(figures),
    ...(figures.totals?.imbalances ?? [])
      .filter(isOff)
      .map(({ asset, units }) => `The books are NOT balanced: ${asset} sums to ${units}.`),
    ...(live?.untied ?? [])
      .filter(isOff)
      .map(({ control, asset }) => `The control ${control.replaceAll('_', ' ')} of ${asset} does not tie.`),
    ...(live === null ? [] : severeText(live, figures.totals)),
    ...unready.map(({ part, problem }) => `Not ready: ${part}: ${problem}.`),
  ]
  const others = [
    ...openText(live === null ? 0 : openOf(live, 'warning'), 'lower-severity'),
    ...warnings.map(({ part, problem }) => `${part}: ${problem}.`),
  ]
  const lines = [
    ...severe.map((text) => html`<li class="severe">${text}</li>`),
    ...others.map((text) => html`<li class="warning">${text}</li>`),
  ]
  return html`<div role="status"><ul class="verdict">${lines.length === 0 ? allIsWell : lines}</ul></div>
`
}

const allIsWell = html`<li class="fine">The books are balanced, no mismatch of weight is open, and everything works.</li>`

function missingFigures({ live, totals, queue }: Figures): string[] {
  const unread = [
    ...(live === null || totals === null ? ['the database'] : []),
    ...(queue === null ? ['the queue'] : []),
  ]
  return unread.map((what) => `Figures are missing: ${what} cannot be read.`)
}

/** What may be lost is a bound: each transfer counts once, with its largest loss. */
function severeText(live: Live, totals: StoreTotals | null): string[] {
  const count = openOf(live, 'severe')
  if (count === 0) return []
  const open = live.mismatches.filter(({ severity }) => severity === 'severe')
  const age = duration(Math.max(0, ...open.map(({ oldest }) => oldest)))
  const which =
    count === 1
      ? `1 severe mismatch is open, for ${age}`
      : `${count} severe mismatches are open, the oldest for ${age}`
  const losses = Map.groupBy(
    live.atRisk.filter(({ severity, units }) => severity === 'severe' && units > 0),
    ({ asset }) => asset,
  )
  const lost = [...losses].map(([asset, rows]) => {
    const units = rows.reduce((sum, row) => sum + row.units, 0)
    return `${unitsText(units)} ${assetText(asset, totals)}`
  })
  return [
    lost.length === 0
      ? `${which}.`
      : `${which}; up to ${new Intl.ListFormat('en').format(lost)} may be lost.`,
  ]
}

function openText(count: number, kind: string): string[] {
  return count === 0 ? [] : [`${count} ${kind} ${count === 1 ? 'mismatch is' : 'mismatches are'} open.`]
}

function openOf({ mismatches }: Live, wanted: Severity): number {
  return countOf(mismatches.filter(({ severity }) => severity === wanted))
}

function countOf(lines: readonly { count: number }[]): number {
  return lines.reduce((sum, { count }) => sum + count, 0)
}
