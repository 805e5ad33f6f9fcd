import { duration } from '../../presentation/text.ts'
import type { StoreTotals } from '../../store/gauges.ts'
import type { Live } from '../gauges.ts'
import type { ReadinessReport } from '../readiness.ts'
import { depositList } from './deposits.ts'
import { type Html, html } from './html.ts'
import { mismatchList } from './mismatches.ts'
import {
  causesTable,
  moneyTable,
  partsTable,
  risksTable,
  stagesTable,
  statesTable,
  streamsTable,
} from './overview-tables.ts'
import { type ConsolePage, partHtml, sectionOf, type Tone, timeOf } from './page.ts'
import type { Overview, OverviewGauges } from './reader.ts'

const refreshSeconds = 30

/** `isLive`: the page refreshes itself. `networks`: their deposits can be listed. */
type OverviewPageOptions = { isLive: boolean; networks: readonly string[] }

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

/** A section that could not be read has no card. */
function cardsOf({ live, totals, queue }: OverviewGauges): Html {
  const cards = [
    ...(totals === null ? [] : [booksCard(totals.value, live?.value ?? null)]),
    ...(live === null ? [] : [mismatchesCard(live.value), waitingCard(live.value)]),
    ...(totals === null ? [] : [depositsCard(totals.value)]),
    ...(live === null ? [] : [inboxCard(live.value)]),
    ...(queue === null ? [] : [queueCard(queue.value)]),
  ]
  return html`<ul class="cards">${cards.map(cardOf)}</ul>
`
}

type Card = { name: string; value: string; note: string; tone: Tone; path?: string }

function cardOf({ name, value, note, tone, path }: Card): Html {
  const title = path === undefined ? html`${name}` : html`<a href="${path}">${name}</a>`
  return html`<li class="card ${tone}"><h2>${title}</h2><p class="value">${value}</p><p class="note">${note}</p></li>
`
}

function booksCard({ imbalances }: StoreTotals, live: Live | null): Card {
  const isBalanced = imbalances.every(({ units }) => units === 0)
  const off = live?.untied.filter(({ units }) => units !== 0).length ?? 0
  const note = [off === 0 ? null : `${off} controls do not tie`, sealText(live)]
  return {
    name: 'Books',
    value: isBalanced ? 'balanced' : 'NOT balanced',
    note: note.filter((text) => text !== null).join('; '),
    tone: isBalanced && off === 0 ? 'fine' : 'severe',
    path: '/ledger',
  }
}

function sealText(live: Live | null): string | null {
  if (live === null) return null
  return live.sealAge === 0 ? 'all journals are sealed' : `oldest unsealed journal ${duration(live.sealAge)}`
}

function mismatchesCard(live: Live): Card {
  const { severe, warning, info } = countBySeverity(live)
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
  const of = (isWanted: (state: string) => boolean) =>
    deposits.filter(({ state }) => isWanted(state)).reduce((sum, { count }) => sum + count, 0)
  const total = of((state) => state !== 'ignored')
  const done = of((state) => state === 'reconciled')
  return { name: 'Deposits', value: `${total}`, note: `${done} reconciled`, tone: 'quiet', path: '/deposits' }
}

function inboxCard({ inbox, quarantine }: Live): Card {
  const kept = quarantine === 0 ? '' : `; ${quarantine} in quarantine`
  const waits = inbox.pending === 0 ? 'nothing waits to be applied' : `oldest ${duration(inbox.oldest)}`
  const tone = inbox.oldest > 60 ? 'warning' : 'quiet'
  return { name: 'Inbox', value: `${inbox.pending}`, note: `${waits}${kept}`, tone }
}

function queueCard(jobs: Readonly<Record<string, number>>): Card {
  const others = Object.entries(jobs).filter(([state, count]) => state !== 'waiting' && count > 0)
  const note = others.map(([state, count]) => `${count} ${state}`).join(', ') || 'nothing else'
  return { name: 'Queue', value: `${jobs.waiting ?? 0} waiting`, note, tone: 'quiet' }
}

type VerdictLine = { tone: Tone; text: string }

/** The most severe first; a single sentence if nothing is wrong. */
function verdictOf(gauges: OverviewGauges, health: ReadinessReport): Html {
  const wrong = [...saidOfReading(gauges), ...saidOfHealth(health)]
  const severe = wrong.filter(({ tone }) => tone === 'severe')
  const others = wrong.filter(({ tone }) => tone !== 'severe')
  const all = [...severe, ...others]
  const lines = all.length === 0 ? [allIsWell] : all
  return html`<ul class="verdict" role="status">${lines.map(({ tone, text }) => html`<li class="${tone}">${text}</li>`)}</ul>
`
}

const allIsWell: VerdictLine = {
  tone: 'fine',
  text: 'The books are balanced, no mismatch of weight is open, and everything works.',
}

function saidOfReading({ live, totals, queue }: OverviewGauges): VerdictLine[] {
  const unread = [
    ...(live === null || totals === null ? ['the database'] : []),
    ...(queue === null ? ['the queue'] : []),
  ]
  return [
    ...unread.map(
      (what): VerdictLine => ({ tone: 'severe', text: `Figures are missing: ${what} cannot be read.` }),
    ),
    ...(totals === null ? [] : saidOfBooks(totals.value)),
    ...(live === null ? [] : saidOfOpen(live.value)),
  ]
}

function saidOfBooks({ imbalances }: StoreTotals): VerdictLine[] {
  const off = imbalances.filter(({ units }) => units !== 0)
  return off.map(({ asset, units }) => ({
    tone: 'severe',
    text: `The books are NOT balanced: ${asset} sums to ${units}.`,
  }))
}

function saidOfOpen(live: Live): VerdictLine[] {
  const { severe, warning } = countBySeverity(live)
  const off = live.untied.filter(({ units }) => units !== 0)
  return [
    ...off.map(
      ({ control, asset }): VerdictLine => ({
        tone: 'severe',
        text: `The control ${control.replaceAll('_', ' ')} of ${asset} does not tie.`,
      }),
    ),
    ...(severe === 0
      ? []
      : [{ tone: 'severe', text: `${severe} severe ${mismatches(severe)} open.` } as const]),
    ...(warning === 0
      ? []
      : [{ tone: 'warning', text: `${warning} lower-severity ${mismatches(warning)} open.` } as const]),
  ]
}

function mismatches(count: number): string {
  return count === 1 ? 'mismatch is' : 'mismatches are'
}

function saidOfHealth({ unready, warnings }: ReadinessReport): VerdictLine[] {
  return [
    ...unready.map(
      ({ part, problem }): VerdictLine => ({ tone: 'severe', text: `Not ready: ${part}: ${problem}.` }),
    ),
    ...warnings.map(({ part, problem }): VerdictLine => ({ tone: 'warning', text: `${part}: ${problem}.` })),
  ]
}

type Counts = Record<'severe' | 'warning' | 'info', number>

function countBySeverity({ mismatches: open }: Pick<Live, 'mismatches'>): Counts {
  const of = (wanted: string) =>
    open.filter(({ severity }) => severity === wanted).reduce((sum, { count }) => sum + count, 0)
  return { severe: of('severe'), warning: of('warning'), info: of('info') }
}
