import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { z } from 'zod'
import { overview } from '../../grafana/source/overview.ts'
import { layOut, type Panel } from '../../grafana/source/panel.ts'
import { promtoolInstalled, runPromtool } from '../support/promtool.ts'
import { runbookSections, textOf } from './files.ts'
import { declaredSeries, readPromql, strangers } from './promql.ts'

const place = z.object({ x: z.number(), y: z.number(), w: z.number(), h: z.number() })
const target = z.object({ refId: z.string(), expr: z.string().min(1), legendFormat: z.string() })
const panelShape = z.object({
  id: z.number(),
  type: z.enum(['stat', 'timeseries', 'table']),
  title: z.string().min(1),
  description: z.string().min(20),
  datasource: z.object({ type: z.literal('prometheus'), uid: z.literal('${datasource}') }),
  gridPos: place,
  targets: z.array(target).min(1),
  fieldConfig: z.object({ defaults: z.object({ unit: z.string().min(1) }) }),
})
const dashboardShape = z.object({ uid: z.string(), panels: z.array(z.object({ type: z.string() }).loose()) })

const dashboard = dashboardShape.parse(JSON.parse(textOf('grafana/dashboards/overview.json')))
const panels = dashboard.panels.filter(({ type }) => type !== 'row').map((panel) => panelShape.parse(panel))
const queries = panels.flatMap(({ title, targets }) => targets.map((one) => ({ title, ...one })))

describe('the overview', () => {
  it('is what its source says; after a change: node grafana/source/write-dashboards.ts', () => {
    expect(JSON.parse(textOf('grafana/dashboards/overview.json'))).toEqual(overview)
  })

  it.each(queries)('"$title" reads only metrics and labels that the program declares: $expr', ({ expr }) => {
    expect(strangers(expr)).toEqual([])
  })

  it.each(queries)('"$title" names its series by labels that the query keeps: $expr', (query) => {
    const used = [...query.legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label)
    expect(readPromql(query.expr).kept).toEqual(expect.arrayContaining(used))
  })

  it('shows every metric that is declared', () => {
    const shown = new Set(queries.flatMap(({ expr }) => readPromql(expr).series.map(withoutSuffix)))
    const all = new Set([...declaredSeries.keys()].map(withoutSuffix))
    expect([...all].filter((name) => !shown.has(name))).toEqual([])
  })

  it('links from its panels only to sections that the runbook has', () => {
    const linked = panels.flatMap(({ description }) =>
      [...description.matchAll(/docs\/runbook\.md#([\w-]+)/g)].map(([, anchor = '']) => anchor),
    )
    expect(linked.filter((anchor) => !runbookSections().has(anchor))).toEqual([])
    expect(linked).not.toEqual([])
  })

  it('places its panels side by side, none over another or beyond the edge', () => {
    const overlaps = panels.flatMap((one) =>
      panels.filter((other) => other.id > one.id && overlap(one, other)),
    )
    expect(overlaps.map(({ title }) => title)).toEqual([])
    expect(panels.filter(({ gridPos: { x, w } }) => x + w > 24)).toEqual([])
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length)
  })
})

describe('laying out a dashboard', () => {
  const panel: Panel = {
    title: 'One',
    kind: 'stat',
    description: 'Says one thing.',
    unit: 's',
    queries: [{ expr: 'depositd_inbox_pending', legend: 'one' }],
    width: 10,
    height: 3,
  }

  it('begins a new line where the screen is full, and a new row below the tallest panel', () => {
    const rows = [
      { title: 'First', panels: [panel, { ...panel, height: 5 }, panel] },
      { title: 'Second', panels: [panel] },
    ]
    const places = layOut(rows).map((one) => place.parse('gridPos' in one ? one.gridPos : null))
    expect(places.map(({ x, y }) => [x, y])).toEqual([
      [0, 0],
      [0, 1],
      [10, 1],
      [0, 6],
      [0, 9],
      [0, 10],
    ])
  })
})

describe.skipIf(!promtoolInstalled())('promtool', () => {
  it('can read every query of the dashboard', () => {
    const rules = queries.map(({ expr }, number) => ({
      record: `panel:query:${number}`,
      expr: expr.replaceAll('$network', '.*').replaceAll('$__rate_interval', '1m'),
    }))
    const folder = mkdtempSync(join(tmpdir(), 'depositd-dashboard-'))
    try {
      const file = join(folder, 'queries.yml')
      writeFileSync(file, stringify({ groups: [{ name: 'dashboard', rules }] }))
      expect(runPromtool('check', 'rules', file)).toMatchObject({ status: 0 })
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

type Placed = { gridPos: z.output<typeof place> }

function overlap({ gridPos: one }: Placed, { gridPos: other }: Placed): boolean {
  const across = one.x < other.x + other.w && other.x < one.x + one.w
  return across && one.y < other.y + other.h && other.y < one.y + one.h
}

function withoutSuffix(series: string): string {
  return series.replace(/_(?:bucket|sum|count)$/, '')
}
