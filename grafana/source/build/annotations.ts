import type { AnnotationQuery } from '@grafana/grafana-foundation-sdk/dashboard'
import {
  type Dataquery as PrometheusQuery,
  QueryEditorMode,
} from '@grafana/grafana-foundation-sdk/prometheus'
import { accounting, isQuery, prometheus, sqlTarget } from './targets.ts'

/** Where history that was read as final had changed. */
export const reorgs: AnnotationQuery = {
  name: 'Reorganisations',
  datasource: prometheus,
  enable: true,
  iconColor: 'red',
  target: promTarget(
    'sum by (network) (increase(depositd_chain_reorgs_total{network=~"$network"}[$__rate_interval])) > 0',
  ),
  titleFormat: 'Reorganisation below finality',
  textFormat: 'final history of {{network}} changed',
  tagKeys: 'network',
}

const lastSeen =
  'max by (version) (max_over_time(timestamp(depositd_build_info)[1d:$__rate_interval] offset $__rate_interval))'

/**
 * Where a version runs that did not one step before, however far apart the steps are, and is another one than that which
 * was last seen within a day: daemons that were away for a while are no deploy.
 */
export const deploys: AnnotationQuery = {
  name: 'Deploys',
  datasource: prometheus,
  enable: true,
  iconColor: 'blue',
  target: promTarget(
    `max by (version) (depositd_build_info) unless max by (version) (depositd_build_info offset $__rate_interval) unless topk(1, ${lastSeen})`,
  ),
  titleFormat: 'Deploy',
  textFormat: 'depositd {{version}} is here',
  tagKeys: 'version',
}

/** Where a month of the books was closed, or opened again. */
export const periodCloses: AnnotationQuery = {
  name: 'Months of the books',
  datasource: accounting,
  enable: true,
  iconColor: 'purple',
  target: sqlTarget(
    {
      sql: `select at as time, to_char(period, 'YYYY-MM') || ' ' || replace(action, '_', '-') || ' by ' || actor as text,
  action as tags
from accounting.period_history where $__timeFilter(at) order by at`,
    },
    'Anno',
  ),
}

function promTarget(expr: string): PrometheusQuery {
  return {
    refId: 'Anno',
    datasource: prometheus,
    editorMode: QueryEditorMode.Code,
    expr,
    _implementsDataqueryVariant: isQuery,
  }
}
