import { describe, expect, it } from 'vitest'
import { layOut } from '../../grafana/source/build/lay-out.ts'
import { noBounds, type Panel } from '../../grafana/source/build/panel.ts'
import { renderPanel } from '../../grafana/source/build/render-panel.ts'

const panel: Panel = {
  title: 'One',
  kind: 'stat',
  description: 'Says one thing.',
  runbook: 'first-looks',
  unit: 's',
  queries: [{ expr: 'depositd_inbox_pending', legend: 'one' }],
  thresholds: noBounds,
  width: 10,
  height: 3,
}
const place = { x: 0, y: 0, w: 10, h: 3 }

describe('laying out a dashboard', () => {
  it('begins a new line where the screen is full, and a new row below the tallest panel', () => {
    const rows = [
      { title: 'First', panels: [panel, { ...panel, height: 5 }, panel] },
      { title: 'Second', panels: [panel] },
    ]
    expect(layOut(rows).map(({ gridPos }) => [gridPos?.x, gridPos?.y])).toEqual([
      [0, 0],
      [0, 1],
      [10, 1],
      [0, 6],
      [0, 9],
      [0, 10],
    ])
  })
})

it('a row that is folded holds its panels, so that they ask only once it is opened', () => {
  const rows = layOut([{ title: 'First', panels: [panel, panel], folded: true }])
  expect(rows).toMatchObject([{ type: 'row', collapsed: true, panels: [{ id: 2 }, { id: 3 }] }])
})

const urls = (one: Panel) => renderPanel(one, place, 1).links?.map(({ url }) => url)

describe('a panel', () => {
  it('links to the runbook, and to the docs where it names a section', () => {
    expect(urls(panel)).toEqual(['${docs:raw}/runbook.md#first-looks'])
    expect(urls({ ...panel, docs: 'metrics.md#stages' })).toEqual([
      '${docs:raw}/runbook.md#first-looks',
      '${docs:raw}/metrics.md#stages',
    ])
  })

  it('gives the columns of a merged table their words and units, and colours those that are told', () => {
    const { fieldConfig } = renderPanel(
      {
        ...panel,
        kind: 'table',
        queries: [
          { expr: 'a', legend: 'open' },
          { expr: 'b', legend: 'oldest' },
        ],
        columns: { open: 'short', oldest: 's' },
        colored: ['oldest'],
      },
      place,
      1,
    )
    expect(fieldConfig?.overrides).toEqual([
      {
        matcher: { id: 'byName', options: 'Value #A' },
        properties: [
          { id: 'displayName', value: 'open' },
          { id: 'unit', value: 'short' },
        ],
      },
      {
        matcher: { id: 'byName', options: 'Value #B' },
        properties: [
          { id: 'displayName', value: 'oldest' },
          { id: 'unit', value: 's' },
          { id: 'custom.cellOptions', value: { type: 'color-text' } },
        ],
      },
    ])
  })

  it('asks the accounting views where its query is SQL', () => {
    const sql = 'select count(*) as n from accounting.deposits'
    const { datasource, targets } = renderPanel({ ...panel, queries: [{ sql }] }, place, 1)
    const accounting = { type: 'grafana-postgresql-datasource', uid: 'accounting' }
    expect(datasource).toEqual(accounting)
    expect(targets).toMatchObject([{ datasource: accounting, rawSql: sql, format: 'table' }])
  })
})
