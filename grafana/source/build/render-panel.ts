import type { TableFieldOptions } from '@grafana/grafana-foundation-sdk/common'
import {
  type DashboardLink,
  DashboardLinkType,
  FieldColorModeId,
  type FieldConfig,
  type Panel as GrafanaPanel,
  type GridPos,
  MappingType,
  ThresholdsMode,
  type ValueMapping,
} from '@grafana/grafana-foundation-sdk/dashboard'
import { customOf, optionsOf } from './kinds.ts'
import type { Panel, Unit } from './panel.ts'
import { accounting, prometheus, targetsOf } from './targets.ts'

/** A panel as Grafana keeps it. */
export function renderPanel(panel: Panel, gridPos: GridPos, id: number): GrafanaPanel {
  const { title, kind, description, queries } = panel
  const [first] = queries
  return {
    id,
    type: kind,
    title,
    description,
    links: linksOf(panel),
    datasource: 'expr' in first ? prometheus : accounting,
    gridPos,
    targets: targetsOf(queries, kind),
    fieldConfig: { defaults: defaultsOf(panel), overrides: columnsOf(panel) },
    options: optionsOf[kind],
    ...(kind === 'table' && 'expr' in first && { transformations: mergedByLabels }),
  }
}

/** Several queries become one table: a row for each set of labels, a column for each query. */
const mergedByLabels = [
  { id: 'merge', options: {} },
  { id: 'organize', options: { excludeByName: { Time: true } } },
]

function linksOf({ runbook, docs }: Panel): DashboardLink[] {
  const links = [link(`Runbook: ${runbook}`, `runbook.md#${runbook}`)]
  return docs === undefined ? links : [...links, link(`Read more: docs/${docs}`, docs)]
}

function link(title: string, page: string): DashboardLink {
  return {
    title,
    type: DashboardLinkType.Link,
    // Written as it is: a slash within must stay one.
    url: `\${docs:raw}/${page}`,
    icon: 'doc',
    tooltip: '',
    tags: [],
    asDropdown: false,
    targetBlank: true,
    includeVars: false,
    keepTime: false,
  }
}

function defaultsOf(panel: Panel): FieldConfig {
  const { unit, kind, thresholds, signed, words } = panel
  return {
    unit,
    ...(signed === undefined && { min: 0 }),
    ...(unit === 'percentunit' && kind === 'bargauge' && { max: 1 }),
    thresholds: {
      mode: ThresholdsMode.Absolute,
      steps: thresholds.map(({ from, color }) => ({ value: from, color })),
    },
    color: { mode: kind === 'timeseries' ? FieldColorModeId.PaletteClassic : FieldColorModeId.Thresholds },
    mappings: words === undefined ? [] : [mappingOf(words)],
    custom: customOf(panel),
  }
}

function mappingOf(words: NonNullable<Panel['words']>): ValueMapping {
  return { type: MappingType.ValueToText, options: { ...words } }
}

function columnsOf({ queries, columns = {}, colored = [] }: Panel) {
  return Object.entries(columns).map(([name, unit]) => {
    const color: Property[] = colored.includes(name) ? [coloredText] : []
    return column(name, [...shownAs(name, unit, queries), ...color], queries)
  })
}

const coloredText: Property = { id: 'custom.cellOptions', value: { type: 'color-text' } }

type Property = { id: keyof FieldConfig | `custom.${keyof TableFieldOptions}`; value: unknown }

function column(name: string, properties: Property[], queries: Panel['queries']) {
  return { matcher: { id: 'byName', options: fieldOf(name, queries) }, properties }
}

function shownAs(name: string, unit: Unit, [first]: Panel['queries']): Property[] {
  const unitOf: Property = { id: 'unit', value: unit }
  return 'expr' in first ? [{ id: 'displayName', value: name }, unitOf] : [unitOf]
}

/** In a merged table the values of query A are in the column `Value #A`; of a single query, in `Value`. */
function fieldOf(name: string, queries: Panel['queries']): string {
  const place = queries.findIndex((query) => 'legend' in query && query.legend === name)
  if (place === -1) return name
  return queries.length === 1 ? 'Value' : `Value #${String.fromCodePoint(65 + place)}`
}
