import { deploys, periodCloses, reorgs } from '../build/annotations.ts'
import type { DashboardSource } from '../build/dashboard.ts'
import { datasourceVariable, networkVariable } from '../build/variables.ts'
import { nodesRow } from './nodes.ts'
import { readingRow, wholeRow } from './reading.ts'

/** Are the networks read, all of them and all of each? */
export const chains: DashboardSource = {
  name: 'chains',
  title: 'Chains',
  description:
    'Are the networks read, up to where, and completely? Head and finality, heights not read, reorganisations, and how the nodes do.',
  variables: [datasourceVariable, networkVariable],
  annotations: [reorgs, deploys, periodCloses],
  rows: [readingRow, wholeRow, nodesRow],
  from: 'now-3h',
  refresh: '30s',
}
