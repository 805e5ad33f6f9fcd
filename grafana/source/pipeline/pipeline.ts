import { deploys, periodCloses, reorgs } from '../build/annotations.ts'
import type { DashboardSource } from '../build/dashboard.ts'
import { datasourceVariable, networkVariable, serviceVariable } from '../build/variables.ts'
import { apiRow } from './api.ts'
import { canaryRow } from './canaries.ts'
import { intakeRow } from './intake.ts'
import { pollRow } from './poll.ts'
import { processRow } from './process.ts'
import { workRow } from './work.ts'

/** Does what is said come in, and is it worked on? */
export const pipeline: DashboardSource = {
  name: 'pipeline',
  title: 'Pipeline',
  description:
    'Does what the service says come in, by webhook and by its API, and is it applied? Intake, inbox, queue, poll, the daemons themselves, and the API.',
  variables: [datasourceVariable, serviceVariable, networkVariable],
  annotations: [reorgs, deploys, periodCloses],
  rows: [intakeRow, workRow, pollRow, processRow, apiRow, canaryRow],
  from: 'now-3h',
  refresh: '30s',
}
