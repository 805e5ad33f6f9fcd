import { Client } from 'pg'
import { type Dashboard, type DashboardQuery, readDashboards } from './dashboard-queries.ts'
import { chooseVariables, type Sources, type Times } from './dashboard-variables.ts'
import { expandPromql, expandSql, type Macros } from './grafana-macros.ts'
import type { Series } from './prometheus.ts'

export type Row = Readonly<Record<string, unknown>>

/** A query as it was sent, and what came back. A row of a PromQL query has a series' labels and its last value. */
export type Evaluated = Pick<DashboardQuery, 'where' | 'language'> & { asked: string } & (
    | { outcome: 'data' | 'empty'; rows: readonly Row[] }
    | { outcome: 'failed'; problem: string }
  )

export type EvaluatedDashboard = Pick<Dashboard, 'name' | 'title'> & { queries: readonly Evaluated[] }

/** Connects as Grafana does: it may read what accountants may, and nothing else. */
export async function connectAccountant(databaseUrl: string): Promise<Client> {
  const settings = ['role=depositd_accountant', 'search_path=accounting', 'default_transaction_read_only=on']
  const options = settings.map((one) => `-c ${one}`).join(' ')
  const client = new Client({ connectionString: databaseUrl, options })
  await client.connect()
  return client
}

/** Asks every query of every dashboard, as Grafana does where the dashboard is opened for this time. */
export async function evaluateDashboards(sources: Sources, times: Times): Promise<EvaluatedDashboard[]> {
  const evaluated: EvaluatedDashboard[] = []
  for (const dashboard of readDashboards()) {
    const queries = await evaluateAll(dashboard, sources, times)
    evaluated.push({ name: dashboard.name, title: dashboard.title, queries })
  }
  return evaluated
}

/** Where a variable cannot be chosen, no panel shows anything. */
async function evaluateAll(dashboard: Dashboard, sources: Sources, times: Times): Promise<Evaluated[]> {
  const variables = await chooseVariables(dashboard, sources, times).catch(wordsOf)
  const queries: Evaluated[] = []
  for (const query of dashboard.queries) {
    const { where, language, text } = query
    if (typeof variables === 'string')
      queries.push({ where, language, asked: text, outcome: 'failed', problem: variables })
    else queries.push(await evaluate(query, sources, { ...times, variables }))
  }
  return queries
}

async function evaluate(query: DashboardQuery, sources: Sources, macros: Macros): Promise<Evaluated> {
  const { where, language, text } = query
  try {
    const asked = language === 'sql' ? expandSql(text, macros) : expandPromql(text, macros)
    const rows =
      language === 'sql'
        ? await askAccounts(sources, asked)
        : await askMetrics(sources, asked, query.isInstant ? null : macros)
    return { where, language, asked, outcome: rows.length > 0 ? 'data' : 'empty', rows }
  } catch (error) {
    return { where, language, asked: text, outcome: 'failed', problem: wordsOf(error) }
  }
}

/** Rows that hold nothing but a time are no data. */
async function askAccounts({ accountant }: Sources, text: string): Promise<Row[]> {
  const { rows } = await accountant.query<Record<string, unknown>>(text)
  return rows.filter((row) => Object.entries(row).some(([name, value]) => name !== 'time' && value !== null))
}

const pointsMax = 200

async function askMetrics({ prometheus }: Sources, text: string, range: Times | null): Promise<Row[]> {
  if (range === null) return rowsOf(await prometheus.query(text))
  const [start, end] = [range.from.getTime() / 1000, range.to.getTime() / 1000]
  const step = Math.max(1, Math.ceil((end - start) / pointsMax))
  // The last moment is among those that are asked for.
  const first = end - Math.floor((end - start) / step) * step
  return rowsOf(await prometheus.queryRange(text, { start: first, end, step }))
}

/** What has no value, as a quantile of nothing, is no data. */
function rowsOf(all: readonly Series[]): Row[] {
  return all.flatMap(({ labels, samples }) => {
    const last = samples.findLast(([, value]) => !Number.isNaN(value))
    return last === undefined ? [] : [{ ...labels, value: last[1] }]
  })
}

function wordsOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : ''
  return `${error instanceof Error ? error.message : String(error)}${cause}`
}
