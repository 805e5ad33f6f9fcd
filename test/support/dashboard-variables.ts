import type { Client } from 'pg'
import type { Dashboard, Variable } from './dashboard-queries.ts'
import { type Chosen, expandPromql, expandSql, type Macros } from './grafana-macros.ts'
import type { Prometheus } from './prometheus.ts'

export type Sources = { prometheus: Prometheus; accountant: Client }

export type Times = Pick<Macros, 'from' | 'to'>

/** The variables of a dashboard as it opens with them: all values where that can be chosen, else the first one. */
export async function chooseVariables(
  { name, variables }: Dashboard,
  sources: Sources,
  times: Times,
): Promise<Map<string, Chosen>> {
  const chosen = new Map<string, Chosen>()
  for (const variable of variables.filter(({ type }) => type !== 'datasource')) {
    const values = await valuesOf(variable, sources, { ...times, variables: chosen })
    if (values.length === 0) throw new Error(`the variable ${variable.name} of ${name} has no value`)
    const { includeAll, allValue } = variable
    chosen.set(variable.name, {
      values: includeAll ? values : values.slice(0, 1),
      all: includeAll && typeof allValue === 'string' && allValue !== '' ? allValue : null,
    })
  }
  return chosen
}

function valuesOf(variable: Variable, sources: Sources, macros: Macros): Promise<string[]> {
  const { type, query = '', datasource } = variable
  const text = typeof query === 'string' ? query : (query.query ?? query.rawSql ?? '')
  if (type !== 'query') return Promise.resolve(text.split(',').map((value) => value.trim()))
  if (datasource?.type.includes('postgres') === true) return fromSql(expandSql(text, macros), sources)
  return fromLabels(expandPromql(text, macros), sources)
}

async function fromLabels(text: string, { prometheus }: Sources): Promise<string[]> {
  const [, selector, label] = /^label_values\((?:(.+),)?\s*(\w+)\s*\)$/s.exec(text) ?? []
  if (label === undefined) throw new Error(`${text} is no label_values(…)`)
  return prometheus.labelValues(label, selector ?? null)
}

/** The column of what is used, where another one is shown; a column alone is both. */
const usedValue = '__value'

async function fromSql(text: string, { accountant }: Sources): Promise<string[]> {
  const { rows } = await accountant.query<Record<string, unknown>>(text)
  return rows.map((row) => String(row[usedValue] ?? Object.values(row)[0]))
}
