import { expect, test } from 'vitest'
import {
  barChart,
  type ChartSeries,
  lineChart,
  rowChart,
  segments,
  sparkline,
} from '../../../src/ops/console/charts.ts'

const series = (...values: (number | null)[]): ChartSeries => ({ name: 'one', mark: 'a', values })

const chartOf = (...all: ChartSeries[]) => ({
  labelledBy: 'title',
  unit: 'deposits',
  columns: ['00:00', '01:00', '02:00'],
  series: all,
})

/** The numbers of an attribute, of all elements of that name. */
function numbersOf(svg: string, element: string, attribute: string): number[] {
  const found = svg.matchAll(new RegExp(`<${element} [^>]*\\b${attribute}="([^"]*)"`, 'g'))
  return [...found].map(([, value]) => Number(value))
}

test('a bar is as high as its value, and the next series stands on it', () => {
  const { text } = barChart(chartOf(series(1, 3, 0), { ...series(2, 0, 0), name: 'other', mark: 'b' }))
  const heights = numbersOf(text, 'rect', 'height')
  const tops = numbersOf(text, 'rect', 'y')
  expect(heights).toHaveLength(3)
  const [one = 0, three = 0, two = 0] = heights
  expect([three / one, two / one].map((ratio) => Math.round(ratio * 10) / 10)).toEqual([3, 2])
  expect((tops[2] ?? 0) + two).toBeCloseTo(tops[0] ?? 0, 0)
})

test('values below zero hang from the line on which the others stand', () => {
  const { text } = barChart(chartOf(series(2, 0, 0), { ...series(-2, 0, 0), name: 'closed' }))
  const [above = 0, below = 0] = numbersOf(text, 'rect', 'y')
  const [height = 0, other] = numbersOf(text, 'rect', 'height')
  expect([other, below]).toEqual([height, above + height])
  expect(text).toContain('<title>00:00 closed: 2 deposits</title>')
})

test('counts have only whole numbers at their axis', () => {
  const { text } = barChart(chartOf(series(1, 0, 0)))
  expect([...text.matchAll(/class="end"[^>]*>([^<]+)</g)].map(([, tick]) => tick)).toEqual(['0', '1'])
})

test('a line has a point for each value, and stops where one is missing', () => {
  const { text } = lineChart(chartOf(series(5, null, 10)))
  expect(numbersOf(text, 'circle', 'cy')).toHaveLength(2)
  expect(text).toMatch(/class="line of-a" d="M[\d.,]+ZM[\d.,]+Z"/)
})

test('the parts of a bar take the width by their size', () => {
  const parts = [1, 3].map((size) => ({ name: 'part', mark: 'a', size }))
  const { text } = rowChart('title', [{ label: 'USDC', figure: '4', graphic: segments(parts) }])
  expect(numbersOf(text, 'rect', 'width')).toEqual([100, 300])
})

test('nothing at all is drawn without numbers that are none', () => {
  const drawn = [
    barChart(chartOf()),
    barChart(chartOf(series(0, 0, 0))),
    lineChart(chartOf(series(null, null, null))),
    lineChart(chartOf(series(0, 0, 0))),
    rowChart('title', []),
    ...[
      sparkline(series(0)),
      sparkline(series()),
      segments([]),
      segments([{ name: 'a', mark: 'a', size: 0 }]),
    ].map((graphic) => graphic(0)),
  ]
  expect(drawn.map(({ text }) => text).filter((text) => /NaN|undefined|Infinity/.test(text))).toEqual([])
})
