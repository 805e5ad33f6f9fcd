import type { ReadinessReport } from '../readiness.ts'
import type { Live, MetricTotals } from '../reading.ts'
import { type Html, html } from './html.ts'
import type { Tone } from './page.ts'
import type { OverviewGauges } from './reading.ts'

type VerdictLine = { tone: Tone; text: string }

/** The statements about the current state, the most severe first; a single sentence if nothing is wrong. */
export function verdictOf(gauges: OverviewGauges, health: ReadinessReport): Html {
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

function saidOfBooks({ imbalances }: MetricTotals): VerdictLine[] {
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

export type Counts = Record<'severe' | 'warning' | 'info', number>

export function countBySeverity({ mismatches: open }: Pick<Live, 'mismatches'>): Counts {
  const of = (wanted: string) =>
    open.filter(({ severity }) => severity === wanted).reduce((sum, { count }) => sum + count, 0)
  return { severe: of('severe'), warning: of('warning'), info: of('info') }
}
