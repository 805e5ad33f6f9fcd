import { cumsum, max, min, range } from 'd3-array'
import { type ScaleLinear, scaleBand, scaleLinear } from 'd3-scale'
import { line, stack, stackOffsetDiverging } from 'd3-shape'
import { type Html, type HtmlContent, html } from './html.ts'

/** One value per column; null if there is none. `mark` is the class `of-…` of console.css that colours it. */
export type ChartSeries = { name: string; mark: string; values: readonly (number | null)[] }

export type ColumnChart = {
  /** Ids of the elements that name and describe the picture. */
  labelledBy: string
  /** Of the vertical axis. */
  unit: string
  /** Names of the columns, of which every sixth is written. */
  columns: readonly string[]
  series: readonly ChartSeries[]
}

/** In units of the picture, which scales with its place on the page. */
const width = 400
const box = { left: 42, right: 394, top: 24, bottom: 166, height: 186 }
const namedEvery = 6
const ticksMax = 4

/** Stacked. Negative values hang below the line. */
export function barChart(chart: ColumnChart): Html {
  const layers = stack<unknown, number, ChartSeries>()
    .keys(chart.series)
    .value((place, { values }) => values[place] ?? 0)
    .offset(stackOffsetDiverging)(range(chart.columns.length))
  const ends = layers.flat()
  const y = heightScale(min(ends, ([low]) => low) ?? 0, max(ends, ([, high]) => high) ?? 0)
  const x = columnScale(chart)
  const bars = layers.flatMap((layer) =>
    layer.map(([low, high], place) => {
      if (low === high) return null
      const extent = html`x="${short(x(place))}" y="${short(y(high))}" width="${short(x.bandwidth())}" height="${short(y(low) - y(high))}"`
      return html`<rect class="of-${layer.key.mark}" ${extent}>${hint(chart, layer.key, place)}</rect>`
    }),
  )
  return picture(chart, { height: box.height, content: [axes(chart, y), bars] })
}

/** A line ends where a value is missing. */
export function lineChart(chart: ColumnChart): Html {
  const y = heightScale(0, max(chart.series, ({ values }) => max(values, (value) => value ?? 0)) ?? 0)
  const x = columnScale(chart)
  const middle = (place: number) => (x(place) ?? 0) + x.bandwidth() / 2
  const lines = chart.series.map((series) => {
    const points = series.values.map((value, place) =>
      value === null
        ? null
        : html`<circle class="of-${series.mark}" cx="${short(middle(place))}" cy="${short(y(value))}" r="2.5">${hint(chart, series, place)}</circle>`,
    )
    return [pathOf(series, { x: middle, y }), points]
  })
  return picture(chart, { height: box.height, content: [axes(chart, y), lines] })
}

type ChartRow = {
  label: string
  /** At the end of the line of the label. */
  figure: string
  graphic: (top: number) => Html
}

const rowHeight = 46
const graphicHeight = 20

/** Each row has a scale of its own, because amounts of different assets are not compared. */
export function rowChart(labelledBy: string, rows: readonly ChartRow[]): Html {
  const content = rows.map(
    ({ label, figure, graphic }, place) =>
      html`<text x="0" y="${place * rowHeight + 14}">${label}</text><text class="end" x="${width}" y="${place * rowHeight + 14}">${figure}</text>${graphic(place * rowHeight + 20)}`,
  )
  return picture({ labelledBy }, { height: rows.length * rowHeight, content })
}

export function sparkline(series: ChartSeries): ChartRow['graphic'] {
  const numbers = series.values.map((value) => value ?? 0)
  const x = scaleLinear([0, Math.max(1, numbers.length - 1)], [2, width - 2])
  return (top) => {
    const y = scaleLinear([Math.min(0, ...numbers), Math.max(0, ...numbers)], [top + graphicHeight, top])
    return html`<path class="grid" d="M0,${short(y(0))}H${width}"/>${pathOf(series, { x, y })}`
  }
}

/** The parts of a whole, which takes the width. */
export function segments(
  parts: readonly { name: string; mark: string; size: number }[],
): ChartRow['graphic'] {
  const ends = [0, ...cumsum(parts, ({ size }) => size)]
  const x = scaleLinear([0, ends.at(-1) ?? 0], [0, width])
  return (top) => {
    const rects = parts.map(({ name, mark }, place) => {
      const from = x(ends[place] ?? 0)
      return html`<rect class="of-${mark}" x="${short(from)}" y="${top}" width="${short(x(ends[place + 1] ?? 0) - from)}" height="${graphicHeight - 4}"><title>${name}</title></rect>`
    })
    return html`${rects}`
  }
}

/** What each colour means. */
export function legend(series: readonly { name: string; mark: string; path?: string }[]): Html {
  const items = series.map(
    ({ name, mark, path }) =>
      html`<li><span class="swatch of-${mark}"></span>${path === undefined ? name : html`<a href="${path}">${name}</a>`}</li>`,
  )
  return html`<ul class="legend">${items}</ul>`
}

type Picture = { height: number; content: HtmlContent }

function picture({ labelledBy }: { labelledBy: string }, { height, content }: Picture): Html {
  return html`<svg viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="${labelledBy}">${content}</svg>`
}

function columnScale({ columns }: Pick<ColumnChart, 'columns'>) {
  return scaleBand(range(columns.length), [box.left, box.right]).padding(0.15)
}

function heightScale(low: number, high: number): ScaleLinear<number, number> {
  return scaleLinear([low, high === low ? low + 1 : high], [box.bottom, box.top]).nice(ticksMax)
}

/** Counts have no ticks between whole numbers. */
function axes({ unit, columns, series }: ColumnChart, y: ScaleLinear<number, number>): Html {
  const isWhole = series.every(({ values }) => values.every((value) => Number.isInteger(value ?? 0)))
  const lines = y
    .ticks(ticksMax)
    .filter((tick) => !isWhole || Number.isInteger(tick))
    .map(
      (tick) =>
        html`<path class="${tick === 0 ? 'base' : 'grid'}" d="M${box.left},${short(y(tick))}H${box.right}"/><text class="end" x="${box.left - 5}" y="${short(y(tick) + 4)}">${tickText(tick)}</text>`,
    )
  const x = columnScale({ columns })
  const names = columns.map((name, place) =>
    place % namedEvery === 0
      ? html`<text x="${short(x(place))}" y="${box.bottom + 16}">${name}</text>`
      : null,
  )
  return html`<text x="0" y="12">${unit}</text>${lines}${names}`
}

const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 4 })

function tickText(tick: number): string {
  return compact.format(Math.abs(tick))
}

type PathScales = { x: (place: number) => number; y: (value: number) => number }

function pathOf({ mark, values }: ChartSeries, { x, y }: PathScales): Html {
  const path = line<number | null>(
    (_value, place) => x(place),
    (value) => y(value ?? 0),
  )
    .defined((value) => value !== null)
    .digits(1)
  return html`<path class="line of-${mark}" d="${path(values) ?? ''}"/>`
}

/** Shown by browsers for the pointer. */
function hint({ columns, unit }: ColumnChart, { name, values }: ChartSeries, place: number): Html {
  const value = Math.abs(values[place] ?? 0).toLocaleString('en', { maximumFractionDigits: 1 })
  return html`<title>${columns[place] ?? ''} ${name}: ${value} ${unit}</title>`
}

function short(value: number | undefined): number {
  return Math.round((value ?? 0) * 10) / 10
}
