import { duration } from '../../presentation/text.ts'
import type { Live, MetricTotals } from '../reading.ts'
import { type Html, html } from './html.ts'
import type { Tone } from './page.ts'
import type { OverviewGauges } from './reading.ts'
import { countBySeverity } from './verdict.ts'

/** The most important numbers. A section that could not be read has no card. */
export function cardsOf({ live, totals, queue }: OverviewGauges): Html {
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

function booksCard({ imbalances }: MetricTotals, live: Live | null): Card {
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

function depositsCard({ deposits }: MetricTotals): Card {
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
