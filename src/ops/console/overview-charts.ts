import { groups, max, range, sum } from 'd3-array'
import { depositStates } from '../../core/judging/reconcile.ts'
import { formatAmount } from '../../core/money.ts'
import type { AmountOfAsset, ChartFigures } from '../../store/charts.ts'
import { barChart, type ChartSeries, legend, lineChart, rowChart, segments, sparkline } from './charts.ts'
import { type Html, type HtmlContent, html, linkTo, type ShownColumn, tableOf, timeOf } from './html.ts'

/** Each leads to the list that it sums up, and has its numbers as a table. */
export function overviewCharts(figures: ChartFigures): Html {
  const charts = [depositsChart, settlingChart, mismatchesChart, transitChart, lossesChart]
  return html`<div class="charts">
${charts.map((chart) => chart(figures))}</div>
<p class="note">Hours are in UTC. The last one is not over.</p>`
}

type ChartHead = { id: string; title: string; path: string; list: string }
type Drawing = { picture: Html; key: HtmlContent; table: Html }

/** The summary says what is drawn, or why nothing is. */
function figureOf(
  { id, title, path, list }: ChartHead,
  summary: string,
  drawing: Drawing | null = null,
): Html {
  const drawn =
    drawing &&
    html`${drawing.picture}${drawing.key}
<details><summary>Numbers</summary>${drawing.table}</details>
`
  return html`<figure class="chart"><h3 id="${id}">${title}</h3>
<p id="${id}-summary" class="note">${summary}</p>
${drawn}<p><a href="${path}">${list}</a></p></figure>
`
}

const labelsOf = ({ id }: ChartHead) => `${id} ${id}-summary`

function depositsChart({ deposits, ...span }: ChartFigures): Html {
  const head = {
    id: 'chart-deposits',
    title: 'Deposits per hour by state',
    path: '/deposits',
    list: 'Deposits',
  }
  if (deposits.length === 0)
    return figureOf(
      head,
      'No deposits in the last 24 hours. A deposit counts in the hour of its payment, or of its first report.',
    )
  const states = depositStates.filter((state) => deposits.some((one) => one.state === state))
  const series = states.map((state) => ({
    name: state,
    mark: state,
    path: linkTo('/deposits', { state }),
    values: perHour(
      span,
      deposits.filter((one) => one.state === state),
      ({ count }) => count,
    ),
  }))
  const done = countOf(deposits.filter(({ state }) => state === 'reconciled'))
  return figureOf(head, `${countOf(deposits)} in the last 24 hours, ${done} of them reconciled.`, {
    picture: barChart({ labelledBy: labelsOf(head), unit: 'deposits', columns: hourNames(span), series }),
    key: legend(series),
    table: hoursTable(span, head.title, series),
  })
}

function settlingChart({ settling, ...span }: ChartFigures): Html {
  const head = {
    id: 'chart-settling',
    title: 'Time to settle per hour',
    path: '/deposits?state=reconciled',
    list: 'Reconciled deposits',
  }
  const meaning = 'The time runs from the final payment to the delivery.'
  if (settling.length === 0) return figureOf(head, `No deposit settled in the last 24 hours. ${meaning}`)
  const longest = max(settling, ({ p95 }) => p95) ?? 0
  const [, seconds, unit] = timeUnits.find(([least]) => longest >= least) ?? timeUnits[2]
  const lineOf = (name: 'p50' | 'p95') => ({
    name: `${name} in ${unit}`,
    mark: name,
    values: perHour(span, settling, (one) => one[name] / seconds),
  })
  const series = [lineOf('p50'), lineOf('p95')]
  const settled = { name: 'settled', mark: '', values: perHour(span, settling, ({ count }) => count) }
  return figureOf(head, `${countOf(settling)} settled in the last 24 hours. ${meaning}`, {
    picture: lineChart({ labelledBy: labelsOf(head), unit, columns: hourNames(span), series }),
    key: legend(series),
    table: hoursTable(span, head.title, [settled, ...series]),
  })
}

/** From which time on they are used, and their seconds. */
const timeUnits = [
  [7200, 3600, 'hours'],
  [120, 60, 'minutes'],
  [0, 1, 'seconds'],
] as const

function mismatchesChart({ mismatches, ...span }: ChartFigures): Html {
  const head = {
    id: 'chart-mismatches',
    title: 'Mismatches per hour',
    path: '/mismatches?status=all',
    list: 'All mismatches',
  }
  if (mismatches.length === 0) return figureOf(head, 'No mismatch was opened or closed in the last 24 hours.')
  const opened = { name: 'opened', mark: 'opened', values: perHour(span, mismatches, (one) => one.opened) }
  const closed = { name: 'closed', mark: 'closed', values: perHour(span, mismatches, (one) => one.closed) }
  const below = { ...closed, values: closed.values.map((value) => -(value ?? 0)) }
  const sums = [sum(opened.values), sum(closed.values)]
  return figureOf(head, `${sums[0]} opened, above the line; ${sums[1]} closed, below it.`, {
    picture: barChart({
      labelledBy: labelsOf(head),
      unit: 'mismatches',
      columns: hourNames(span),
      series: [opened, below],
    }),
    key: legend([opened, closed]),
    table: hoursTable(span, head.title, [opened, closed]),
  })
}

function transitChart({ transit, ...span }: ChartFigures): Html {
  const head = { id: 'chart-transit', title: 'Value in transit by asset', path: '/ledger', list: 'Ledger' }
  if (transit.length === 0)
    return figureOf(
      head,
      'Nothing in transit in the last 24 hours. A final payment is in transit until its delivery is proved.',
    )
  const rows = byAsset(transit).map(([label, hours]) => ({
    label,
    figure: totalText(hours.slice(-1)),
    graphic: sparkline({ name: label, mark: 'transit', values: hours.map(sizeOf) }),
  }))
  const changes = transit.filter(
    ({ hour, amount }, place) => hour === 0 || amount !== transit[place - 1]?.amount,
  )
  const columns: ShownColumn<ChartFigures['transit'][number]>[] = [
    { title: 'ASSET', value: assetLabel },
    hourColumn(span),
    { title: 'IN TRANSIT', value: (one) => totalText([one]), align: 'right' },
  ]
  return figureOf(head, 'By the books, now and over the last 24 hours. Each asset has its own scale.', {
    picture: rowChart(labelsOf(head), rows),
    key: null,
    table: tableOf(changes, {
      caption: `${head.title} at the end of each hour that changed it`,
      columns,
      empty: '',
    }),
  })
}

const lossAges: Record<ChartFigures['losses'][number]['age'], string> = {
  under_1h: 'under 1 hour',
  under_24h: 'under 1 day',
  under_7d: 'under 1 week',
  older: 'older',
}

function lossesChart({ losses }: ChartFigures): Html {
  const head = {
    id: 'chart-losses',
    title: 'Loss of open mismatches by age',
    path: '/mismatches',
    list: 'Open mismatches',
  }
  if (losses.length === 0)
    return figureOf(head, 'No open mismatch has a loss. Each asset with one has a bar here, divided by age.')
  const assets = byAsset(losses)
  const rows = assets.map(([label, ages]) => ({
    label,
    figure: totalText(ages),
    graphic: segments(
      ages.map((one) => ({
        name: `${lossAges[one.age]}: ${totalText([one])}`,
        mark: one.age,
        size: sizeOf(one),
      })),
    ),
  }))
  const columns: ShownColumn<(typeof assets)[number]>[] = [
    { title: 'ASSET', value: ([label]) => label },
    ...Object.entries(lossAges).map(([age, name]): (typeof columns)[number] => ({
      title: name.toUpperCase(),
      value: ([, found]) => totalText(found.filter((one) => one.age === age)),
      align: 'right',
    })),
    { title: 'TOTAL', value: ([, ages]) => totalText(ages), align: 'right' },
  ]
  return figureOf(head, 'The whole loss of each asset, divided by age. Each transfer counts once.', {
    picture: rowChart(labelsOf(head), rows),
    key: legend(Object.entries(lossAges).map(([mark, name]) => ({ mark, name }))),
    table: tableOf(assets, { caption: head.title, columns, empty: '' }),
  })
}

type ChartHours = Pick<ChartFigures, 'from' | 'hours'>

const hourMs = 3_600_000

function hourNames({ from, hours }: ChartHours): string[] {
  return range(hours).map((hour) => new Date(from.getTime() + hour * hourMs).toISOString().slice(11, 16))
}

function perHour<Row extends { hour: number }>(
  { hours }: ChartHours,
  rows: readonly Row[],
  valueOf: (row: Row) => number,
): (number | null)[] {
  const values = new Map(rows.map((row) => [row.hour, valueOf(row)]))
  return range(hours).map((hour) => values.get(hour) ?? null)
}

function countOf(rows: readonly { count: number }[]): number {
  return sum(rows, ({ count }) => count)
}

function hourColumn({ from }: ChartHours): ShownColumn<{ hour: number }> {
  const start = ({ hour }: { hour: number }) => new Date(from.getTime() + hour * hourMs)
  return { title: 'HOUR FROM', value: (row) => start(row).toISOString(), show: (row) => timeOf(start(row)) }
}

/** The newest first, without hours in which nothing was. */
function hoursTable(span: ChartHours, caption: string, series: readonly ChartSeries[]): Html {
  const rows = range(span.hours)
    .toReversed()
    .filter((hour) => series.some(({ values }) => values[hour] !== null))
    .map((hour) => ({ hour }))
  const columns = series.map(({ name, values }): ShownColumn<{ hour: number }> => {
    const value = ({ hour }: { hour: number }) =>
      values[hour]?.toLocaleString('en', { maximumFractionDigits: 2 }) ?? ''
    return { title: name.toUpperCase(), value, align: 'right' }
  })
  return tableOf(rows, { caption, columns: [hourColumn(span), ...columns], empty: '' })
}

function assetLabel({ symbol, network }: AmountOfAsset): string {
  return `${symbol} on ${network}`
}

function byAsset<Row extends AmountOfAsset>(rows: readonly Row[]): [label: string, Row[]][] {
  return groups(rows, ({ asset }) => asset).map(([, found]) => [found.map(assetLabel)[0] ?? '', found])
}

/** For the picture only: texts have the exact amount. */
function sizeOf({ amount, decimals }: AmountOfAsset): number {
  return Number(formatAmount(amount, decimals))
}

const exact = new Intl.NumberFormat('en', { maximumFractionDigits: 100 })

/** Of rows of one asset, exactly; empty if there are none. */
function totalText(rows: readonly AmountOfAsset[]): string {
  const [first] = rows
  if (first === undefined) return ''
  const total = rows.reduce((amount, row) => amount + row.amount, 0n)
  return exact.format(formatAmount(total, first.decimals) as `${number}`)
}
