import { deploys, periodCloses, reorgs } from '../build/annotations.ts'
import type { DashboardSource } from '../build/dashboard.ts'
import { assetVariable, datasourceVariable, networkVariable, serviceVariable } from '../build/variables.ts'
import { lagRow } from './lag.ts'
import { matrixRow } from './matrix.ts'
import { mismatchRow } from './mismatches.ts'
import { scorecardRow } from './scorecard.ts'

/** Do webhooks, records and chains say the same? */
export const reconciliation: DashboardSource = {
  name: 'reconciliation',
  title: 'Reconciliation',
  description:
    'Do webhooks, records and chains say the same of each deposit? The matrix, what does not agree and for how long, how late, and how the service does.',
  variables: [datasourceVariable, serviceVariable, networkVariable, assetVariable],
  annotations: [reorgs, deploys, periodCloses],
  rows: [matrixRow, mismatchRow, lagRow, scorecardRow],
  from: 'now-24h',
  refresh: '1m',
}
