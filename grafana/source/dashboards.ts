import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard'
import { accountant } from './accountant/accountant.ts'
import { createDashboard } from './build/dashboard.ts'
import { chains } from './chains/chains.ts'
import { ledger } from './ledger/ledger.ts'
import { overview } from './overview/overview.ts'
import { pipeline } from './pipeline/pipeline.ts'
import { reconciliation } from './reconciliation/reconciliation.ts'

/** What each dashboard is made of. */
const sources = [overview, pipeline, chains, reconciliation, ledger, accountant]

/** Every dashboard as Grafana keeps it, by the name of its file without the ending. */
export const dashboards: ReadonlyMap<string, Dashboard> = new Map(
  sources.map((source) => [source.name, createDashboard(source)]),
)

/** The text of a dashboard's file. */
export function dashboardText(dashboard: Dashboard): string {
  return `${JSON.stringify(dashboard, null, 2)}\n`
}
