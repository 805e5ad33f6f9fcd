import type { Dataquery } from '@grafana/grafana-foundation-sdk/cog'
import type { DataSourceRef } from '@grafana/grafana-foundation-sdk/common'
import {
  type Dataquery as PrometheusQuery,
  PromQueryFormat,
  QueryEditorMode,
} from '@grafana/grafana-foundation-sdk/prometheus'
import type { PanelKind, PromQuery, SqlQuery } from './panel.ts'

/** Which Prometheus is chosen on the screen, where there are several. */
export const prometheus: DataSourceRef = { type: 'prometheus', uid: '${datasource}' }

/** The login of accountants, as it is provisioned: it reads the schema `accounting` and nothing else. */
export const accounting: DataSourceRef = { type: 'grafana-postgresql-datasource', uid: 'accounting' }

/** What Grafana keeps of a query in SQL. The published schema has no type for it. */
export type PostgresQuery = Dataquery & {
  refId: string
  datasource: DataSourceRef
  editorMode: 'code'
  format: 'table' | 'time_series'
  rawQuery: true
  rawSql: string
}

/** The queries of a panel, called A, B, C. */
export function targetsOf(queries: readonly (PromQuery | SqlQuery)[], kind: PanelKind): Dataquery[] {
  return queries.map((query, place) => {
    const refId = String.fromCodePoint(65 + place)
    return 'expr' in query ? promTarget(query, { refId, kind }) : sqlTarget(query, refId)
  })
}

function promTarget(
  { expr, legend, exemplars }: PromQuery,
  { refId, kind }: { refId: string; kind: PanelKind },
): PrometheusQuery {
  const instant = kind !== 'timeseries'
  return {
    refId,
    datasource: prometheus,
    editorMode: QueryEditorMode.Code,
    expr,
    legendFormat: legend,
    format: kind === 'table' ? PromQueryFormat.Table : PromQueryFormat.TimeSeries,
    instant,
    range: !instant,
    exemplar: exemplars === true,
    _implementsDataqueryVariant: isQuery,
  }
}

export function sqlTarget({ sql, series }: SqlQuery, refId: string) {
  const target: PostgresQuery = {
    refId,
    datasource: accounting,
    editorMode: 'code',
    format: series === true ? 'time_series' : 'table',
    rawQuery: true,
    rawSql: sql,
    _implementsDataqueryVariant: isQuery,
  }
  return target
}

/** Only tells types of queries from others; it is never written. */
export function isQuery(): void {
  return undefined
}
