import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

/** One query of a dashboard as its file has it, with macros and variables. */
export type DashboardQuery = {
  /** File, panel and query, like `overview / Books / A`; no two have the same. */
  where: string
  language: 'promql' | 'sql'
  text: string
  /** Asked for one moment, not for a stretch of time. */
  isInstant: boolean
}

export type Dashboard = {
  /** The file's name without its ending. */
  name: string
  title: string
  variables: readonly Variable[]
  queries: readonly DashboardQuery[]
}

const target = z.looseObject({
  refId: z.string().optional(),
  expr: z.string().optional(),
  rawSql: z.string().optional(),
  instant: z.boolean().optional(),
})

/** Rows that are folded hold their panels in themselves. */
const panel = z.looseObject({
  title: z.string().default(''),
  targets: z.array(target).default([]),
  get panels() {
    return z.array(panel).default([])
  },
})

const annotation = z.looseObject({
  name: z.string(),
  builtIn: z.int().optional(),
  expr: z.string().optional(),
  rawQuery: z.string().optional(),
  target: target.optional(),
})

const variable = z.looseObject({
  name: z.string(),
  type: z.string(),
  query: z
    .union([z.string(), z.looseObject({ query: z.string().optional(), rawSql: z.string().optional() })])
    .optional(),
  datasource: z.looseObject({ type: z.string() }).nullish(),
  includeAll: z.boolean().default(false),
  allValue: z.string().nullish(),
})

export type Variable = z.output<typeof variable>

const dashboard = z.looseObject({
  title: z.string(),
  panels: z.array(panel),
  templating: z.object({ list: z.array(variable) }).default({ list: [] }),
  annotations: z.object({ list: z.array(annotation).default([]) }).default({ list: [] }),
})

const folder = join(import.meta.dirname, '../../grafana/dashboards')

/** Every dashboard that Grafana is provisioned with. */
export function readDashboards(): Dashboard[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .map((file) => readDashboard(file.slice(0, -'.json'.length), readFileSync(join(folder, file), 'utf8')))
}

/** @throws Error where something asks for data in a way that is not understood here. */
export function readDashboard(name: string, text: string): Dashboard {
  const { title, panels, templating, annotations } = dashboard.parse(JSON.parse(text))
  const ofPanels = panels
    .flatMap((one) => [one, ...one.panels])
    .flatMap((one) =>
      one.targets.map((each) => toQuery(`${name} / ${one.title} / ${each.refId ?? ''}`, each)),
    )
  const ofAnnotations = annotations.list
    .filter(({ builtIn }) => builtIn === undefined || builtIn === 0)
    .map(({ target: inner, rawQuery, ...own }) =>
      toQuery(`${name} / annotation / ${own.name}`, { rawSql: rawQuery, ...own, ...inner }),
    )
  return { name, title, variables: templating.list, queries: [...ofPanels, ...ofAnnotations] }
}

type Asked = { expr?: string | undefined; rawSql?: string | undefined; instant?: boolean | undefined }

function toQuery(where: string, { expr, rawSql, instant = false }: Asked): DashboardQuery {
  if (expr !== undefined) return { where, language: 'promql', text: expr, isInstant: instant }
  if (rawSql !== undefined) return { where, language: 'sql', text: rawSql, isInstant: true }
  throw new Error(`${where} asks in no language that is known here`)
}
