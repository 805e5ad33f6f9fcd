/** One PromQL query of a panel. `legend` names a series by its labels, like `{{stage}}`. */
export type Query = { expr: string; legend: string }

/** From `from` upwards the value has this colour; the first step has no lower end. */
export type Step = { from: number | null; color: 'green' | 'orange' | 'red' }

export type PanelKind = 'stat' | 'timeseries' | 'table'

export type Panel = {
  title: string
  kind: PanelKind
  /** Which decision it serves, and where to read on. */
  description: string
  /** Grafana's id of the unit: `s`, `short`, `reqps`, `percentunit`, `none`. */
  unit: string
  queries: readonly Query[]
  thresholds?: readonly Step[]
  /** Words shown in place of a value. */
  words?: Readonly<Record<string, { text: string; color: Step['color'] }>>
  /** Units of single columns of a table, by the query's legend. */
  columns?: Readonly<Record<string, string>>
  stacked?: boolean
  /** In 24ths of the screen. */
  width: number
  height: number
}

export type Row = { title: string; panels: readonly Panel[] }

export const dataSource = { type: 'prometheus', uid: '${datasource}' }

type Place = { x: number; y: number; w: number; h: number }

/** The rows as Grafana's panels, placed from left to right and from top to bottom. */
export function layOut(rows: readonly Row[]): object[] {
  let id = 0
  let top = 0
  return rows.flatMap(({ title, panels }) => {
    id += 1
    const heading = {
      id,
      type: 'row',
      title,
      collapsed: false,
      gridPos: { x: 0, y: top, w: 24, h: 1 },
      panels: [],
    }
    top += 1
    let left = 0
    let bottom = top
    const placed = panels.map((panel) => {
      if (left + panel.width > 24) [left, top] = [0, bottom]
      const place = { x: left, y: top, w: panel.width, h: panel.height }
      left += panel.width
      bottom = Math.max(bottom, top + panel.height)
      id += 1
      return render(panel, place, id)
    })
    top = bottom
    return [heading, ...placed]
  })
}

function render(panel: Panel, gridPos: Place, id: number): object {
  return {
    id,
    type: panel.kind,
    title: panel.title,
    description: panel.description,
    datasource: dataSource,
    gridPos,
    targets: panel.queries.map((query, place) => targetOf(query, place, panel.kind)),
    fieldConfig: { defaults: defaultsOf(panel), overrides: overridesOf(panel) },
    options: optionsOf[panel.kind],
    ...(panel.kind === 'table' && { transformations: [{ id: 'merge', options: {} }, withoutTime] }),
  }
}

const withoutTime = { id: 'organize', options: { excludeByName: { Time: true } } }

function targetOf({ expr, legend }: Query, place: number, kind: PanelKind): object {
  const refId = String.fromCodePoint(65 + place)
  const shape = { timeseries: 'time_series', stat: 'time_series', table: 'table' }[kind]
  const instant = kind === 'table' || kind === 'stat'
  return {
    refId,
    datasource: dataSource,
    expr,
    legendFormat: legend,
    format: shape,
    instant,
    range: !instant,
  }
}

function defaultsOf({ unit, kind, thresholds, words, stacked }: Panel): object {
  const steps = thresholds?.map(({ from, color }) => ({ value: from, color })) ?? [
    { value: null, color: 'green' },
  ]
  return {
    unit,
    min: 0,
    thresholds: { mode: 'absolute', steps },
    color: { mode: kind === 'timeseries' ? 'palette-classic' : 'thresholds' },
    mappings: words === undefined ? [] : [{ type: 'value', options: words }],
    ...(kind === 'timeseries' && {
      custom: {
        lineWidth: 1,
        fillOpacity: stacked ? 30 : 0,
        stacking: { mode: stacked ? 'normal' : 'none', group: 'A' },
        thresholdsStyle: { mode: thresholds === undefined ? 'off' : 'dashed' },
      },
    }),
  }
}

/** In a merged table the values of query A are in the column `Value #A`. */
function overridesOf({ queries, columns }: Panel): object[] {
  return Object.entries(columns ?? {}).map(([legend, unit]) => {
    const letter = String.fromCodePoint(65 + queries.findIndex((query) => query.legend === legend))
    const only = queries.length === 1
    return {
      matcher: { id: 'byName', options: only ? 'Value' : `Value #${letter}` },
      properties: [
        { id: 'displayName', value: legend },
        { id: 'unit', value: unit },
      ],
    }
  })
}

const optionsOf: Record<PanelKind, object> = {
  stat: {
    colorMode: 'background',
    graphMode: 'none',
    textMode: 'auto',
    reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false },
  },
  timeseries: {
    legend: { displayMode: 'table', placement: 'right', calcs: ['lastNotNull', 'max'] },
    tooltip: { mode: 'multi', sort: 'desc' },
  },
  table: { showHeader: true, cellHeight: 'sm' },
}
