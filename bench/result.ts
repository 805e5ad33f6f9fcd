import { type Ratio, spreadText } from './statistics.ts'

/** A figure that something is asked of. `bench` is its number in the table of targets: `B1`. */
export type Figure = { bench: string; what: string; target: string; measured: string; isMet: boolean }

/** What a bench found, as a document, as text, and as lines of the table. */
export type Result = { report: object; text: string; figures: readonly Figure[] }

/** How many times as fast ours is as something else. */
export function ratioFigure(bench: string, against: string, ratio: Ratio): Figure {
  const { target, isMet } = ratio
  return {
    bench,
    what: `ours x ${against}`,
    target: `at least ${target}`,
    measured: spreadText(ratio, 2),
    isMet,
  }
}

const columns = ['bench', 'what', 'target', 'measured'] as const

/** Targets, what was measured and whether that is enough, a line each. */
export function tableOf(figures: readonly Figure[]): string {
  const heads = { bench: '', what: 'WHAT', target: 'TARGET', measured: 'MEASURED' }
  const widths = columns.map((column) =>
    Math.max(...[heads, ...figures].map((figure) => figure[column].length)),
  )
  const line = (figure: Record<(typeof columns)[number], string>, outcome: string) =>
    `${columns.map((column, place) => figure[column].padEnd(widths[place] ?? 0)).join('  ')}  ${outcome}\n`
  return [line(heads, ''), ...figures.map((figure) => line(figure, figure.isMet ? 'met' : 'MISSED'))].join('')
}
