import {
  VariableHide,
  type VariableModel,
  VariableRefresh,
  VariableSort,
  VariableType,
} from '@grafana/grafana-foundation-sdk/dashboard'
import { accounting, prometheus } from './targets.ts'

const chosenAll = { text: ['All'], value: ['$__all'] }

/** Which Prometheus is asked. */
export const datasourceVariable: VariableModel = {
  name: 'datasource',
  label: 'Data source',
  type: VariableType.Datasource,
  query: 'prometheus',
  current: { text: 'Prometheus', value: 'prometheus' },
  hide: VariableHide.DontHide,
}

/** Where links to the docs lead. The Grafana of docker-compose.yml has them in its public folder. */
export const docsVariable: VariableModel = {
  name: 'docs',
  label: 'Docs',
  type: VariableType.Constant,
  query: '/public/docs',
  current: { text: '/public/docs', value: '/public/docs' },
  hide: VariableHide.HideVariable,
}

/** Deposit services of the settings. What is about no single service has none; ".*" keeps it in view. */
export const serviceVariable: VariableModel = labelVariable({
  name: 'service',
  label: 'Service',
  metric: 'depositd_poll_age_seconds',
  key: 'service',
})

/** Networks that deposits are on. Mismatches about what could not be read have none; ".*" keeps them in view. */
export const networkVariable: VariableModel = labelVariable({
  name: 'network',
  label: 'Network',
  metric: 'depositd_deposits',
  key: 'network',
})

/** Labels of assets, like USDC: of one label on several networks, all. */
export const assetVariable: VariableModel = labelVariable({
  name: 'asset',
  label: 'Asset',
  metric: 'depositd_asset_info',
  key: 'symbol',
})

type Labels = { name: string; label: string; metric: string; key: string }

function labelVariable({ name, label, metric, key }: Labels): VariableModel {
  return {
    name,
    label,
    type: VariableType.Query,
    datasource: prometheus,
    query: `label_values(${metric}, ${key})`,
    definition: `label_values(${metric}, ${key})`,
    includeAll: true,
    allValue: '.*',
    multi: true,
    current: chosenAll,
    refresh: VariableRefresh.OnTimeRangeChanged,
    sort: VariableSort.AlphabeticalAsc,
    hide: VariableHide.DontHide,
  }
}

/**
 * Values that the accountant's views have. All of them together are the empty text, which is put into SQL as it is:
 * a list of thousands of owners would be longer than a statement may be.
 */
export function sqlVariable(name: string, label: string, sql: string): VariableModel {
  return {
    name,
    label,
    type: VariableType.Query,
    datasource: accounting,
    query: sql,
    definition: sql,
    includeAll: true,
    allValue: "''",
    multi: true,
    current: chosenAll,
    refresh: VariableRefresh.OnDashboardLoad,
    sort: VariableSort.AlphabeticalAsc,
    hide: VariableHide.DontHide,
  }
}
