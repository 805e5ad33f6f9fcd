import { lagRow, mismatchRow } from './overview-mismatches.ts'
import { moneyRow } from './overview-money.ts'
import { chainRow, pipelineRow } from './overview-pipeline.ts'
import { serviceRow } from './overview-service.ts'
import { dataSource, layOut, type Row } from './panel.ts'

const rows: readonly Row[] = [moneyRow, mismatchRow, lagRow, pipelineRow, serviceRow, chainRow]

/** The dashboard "depositd overview": is money where it should be, and does every part still look? */
export const overview = {
  uid: 'depositd-overview',
  title: 'depositd overview',
  description:
    'Is money where it should be? From top to bottom: the answer, what is wrong, how late, and why.',
  tags: ['depositd'],
  schemaVersion: 39,
  version: 1,
  editable: false,
  graphTooltip: 1,
  refresh: '30s',
  time: { from: 'now-6h', to: 'now' },
  timezone: 'browser',
  annotations: { list: [] },
  links: [],
  templating: {
    list: [
      {
        name: 'datasource',
        label: 'Data source',
        type: 'datasource',
        query: 'prometheus',
        current: { text: 'Prometheus', value: 'prometheus' },
        hide: 0,
      },
      {
        name: 'network',
        label: 'Network',
        type: 'query',
        datasource: dataSource,
        query: { query: 'label_values(depositd_deposits, network)', refId: 'network' },
        // Mismatches about what could not be read have no network; ".*" keeps them in view.
        includeAll: true,
        allValue: '.*',
        multi: true,
        current: { text: ['All'], value: ['$__all'] },
        refresh: 2,
        sort: 1,
        hide: 0,
      },
    ],
  },
  panels: layOut(rows),
}
