import { periodCloses } from '../build/annotations.ts'
import type { DashboardSource } from '../build/dashboard.ts'
import { sqlVariable } from '../build/variables.ts'
import { bookRow, monthRow } from './books.ts'
import { depositRow } from './deposits.ts'
import { feeRow, openRow } from './fees.ts'
import { todayRow } from './today.ts'
import { tieRow, transitRow } from './transit.ts'

/** What an accountant asks, of the views of the schema `accounting` alone. */
export const accountant: DashboardSource = {
  name: 'accountant',
  title: 'Accountant',
  description:
    'Deposits, balances, what is in transit, fees, months, open items, and the tie to the chain, from the views of the schema "accounting". Tables are exact; charts are drawn from rounded numbers. It reads anew only when asked.',
  variables: [
    sqlVariable(
      'network',
      'Network',
      "select distinct split_part(asset, '/', 1) as network from accounting.trial_balance('infinity') order by 1",
    ),
    sqlVariable(
      'owner',
      'Owner',
      'select distinct owner_id from accounting.deposits where owner_id is not null order by 1',
    ),
    sqlVariable(
      'asset',
      'Asset',
      "select distinct asset_symbol from accounting.trial_balance('infinity') order by 1",
    ),
  ],
  annotations: [periodCloses],
  rows: [todayRow, depositRow, transitRow, bookRow, feeRow, monthRow, openRow, tieRow],
  from: 'now-30d',
  refresh: null,
}
