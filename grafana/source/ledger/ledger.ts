import { deploys, periodCloses, reorgs } from '../build/annotations.ts'
import type { DashboardSource } from '../build/dashboard.ts'
import { assetVariable, datasourceVariable, networkVariable } from '../build/variables.ts'
import { balanceRow, feeRow } from './balances.ts'
import { controlRow, holdRow, sealRow } from './hold.ts'

/** Do the books hold, and what do they say? */
export const ledger: DashboardSource = {
  name: 'ledger',
  title: 'Ledger',
  description:
    'Do the books hold, and what do they say? Balances by what accounts are for, fees and conversion, control totals, journals and seals. Amounts are approximate here; the accounting views are exact.',
  variables: [datasourceVariable, networkVariable, assetVariable],
  annotations: [reorgs, deploys, periodCloses],
  rows: [holdRow, balanceRow, feeRow, controlRow, sealRow],
  from: 'now-24h',
  refresh: '1m',
}
