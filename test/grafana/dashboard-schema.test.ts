import * as units from '@grafana/grafana-foundation-sdk/units'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { committed, panelsOf } from './dashboard-files.ts'
import { schemaType } from './grafana-schema.ts'
import { faultsOf, resolve } from './schema-faults.ts'

const dashboardType = resolve('dashboard', 'Dashboard')

const sqlQuery = z.strictObject({
  refId: z.string(),
  datasource: z.strictObject({ type: z.literal('grafana-postgresql-datasource'), uid: z.string() }),
  editorMode: z.literal('code'),
  format: z.enum(['table', 'time_series']),
  rawQuery: z.literal(true),
  rawSql: z.string().min(1),
})

describe.each(committed)('the dashboard $name', ({ json, dashboard }) => {
  it("has nothing but what Grafana's published schema has, and all that it asks for", () => {
    expect(faultsOf(json, dashboardType)).toEqual([])
  })

  it.each(panelsOf(dashboard))('"$title" has options and fields of its kind of panel', (panel) => {
    expect(faultsOf(panel.options, resolve(panel.type, 'Options'))).toEqual([])
    const custom = schemaType(panel.type, 'FieldConfig')
    const given = panel.fieldConfig.defaults.custom
    if (custom !== null) expect(faultsOf(given, custom)).toEqual([])
    else expect(given).toEqual({})
  })

  it.each(panelsOf(dashboard))('"$title" overrides only what fields have', ({ type, fieldConfig }) => {
    const ids = fieldConfig.overrides.flatMap(({ properties }) => properties.map(({ id }) => id))
    const custom = fieldsOf(type, 'FieldConfig').map((field) => `custom.${field}`)
    const known = new Set([...fieldsOf('dashboard', 'FieldConfig'), ...custom])
    expect(ids.filter((id) => !known.has(id))).toEqual([])
  })

  it.each(panelsOf(dashboard))('"$title" asks as its data source is asked', ({ targets }) => {
    for (const target of targets)
      if ('expr' in target) expect(faultsOf(target, resolve('prometheus', 'Dataquery'))).toEqual([])
      else expect(sqlQuery.safeParse(target).error).toBeUndefined()
  })

  it.each(panelsOf(dashboard))('"$title" has units that are among Grafana\'s', ({ fieldConfig }) => {
    const overridden = fieldConfig.overrides
      .flatMap(({ properties }) => properties)
      .filter(({ id }) => id === 'unit')
      .map(({ value }) => value)
    const published = new Set<unknown>(Object.values(units))
    expect([fieldConfig.defaults.unit, ...overridden].filter((unit) => !published.has(unit))).toEqual([])
  })
})

describe('the published schema', () => {
  const panel = { type: 'stat', title: 'One', gridPos: { h: 1, w: 1, x: 0, y: 0 } }
  const rest = { schemaVersion: 39, templating: {}, annotations: {} }

  it.each<[object, string]>([
    [{ ...rest, panels: [{ ...panel, tittle: 'One' }] }, '.panels[0].tittle: unknown'],
    [{ ...rest, panels: [{ ...panel, gridPos: { h: 1, w: 1, x: 0 } }] }, '.panels[0].gridPos.y: missing'],
    [{ ...rest, refresh: 30 }, '.refresh: number in place of string'],
    [{ templating: {}, annotations: {} }, '.schemaVersion: missing'],
    [{ ...rest, graphTooltip: 7 }, '.graphTooltip: 7 in place of 0'],
    [
      { ...rest, templating: { list: [{ name: 'network', type: 'qury' }] } },
      '.templating.list[0].type: "qury" in place of query',
    ],
  ])('is read so that %j is refused', (json, fault) => {
    expect(faultsOf(json, dashboardType)).toEqual([fault])
  })
})

/** Fields of an object type, through aliases. */
function fieldsOf(module: string, name: string): string[] {
  const type = schemaType(module, name)
  if (type === null) return []
  if (type.kind === 'reference') return fieldsOf(type.module, type.name)
  return type.kind === 'object' ? [...type.fields.keys()] : []
}
