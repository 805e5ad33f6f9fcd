import { readdirSync } from 'node:fs'
import { z } from 'zod'
import { pathOf, textOf } from './files.ts'

const place = z.object({ x: z.number(), y: z.number(), w: z.number(), h: z.number() })
const source = z.object({ type: z.string(), uid: z.string() })
const link = z.looseObject({ title: z.string().min(1), url: z.string(), type: z.string() })

const promTarget = z.looseObject({ refId: z.string(), expr: z.string().min(1), legendFormat: z.string() })
const sqlTarget = z.looseObject({ refId: z.string(), rawSql: z.string().min(1), format: z.string() })

const panelShape = z.looseObject({
  id: z.number(),
  type: z.enum(['stat', 'timeseries', 'table', 'bargauge']),
  title: z.string().min(1),
  description: z.string(),
  links: z.array(link),
  datasource: source,
  gridPos: place,
  targets: z.array(z.union([promTarget, sqlTarget])).min(1),
  options: z.unknown(),
  fieldConfig: z.looseObject({
    defaults: z.looseObject({
      unit: z.string().min(1),
      custom: z.unknown(),
      thresholds: z.object({ steps: z.array(z.object({ value: z.number().nullable(), color: z.string() })) }),
    }),
    overrides: z.array(
      z.object({
        matcher: z.object({ id: z.string(), options: z.string() }),
        properties: z.array(z.object({ id: z.string(), value: z.unknown() })),
      }),
    ),
  }),
})

const rowShape = z.looseObject({
  id: z.number(),
  type: z.literal('row'),
  title: z.string().min(1),
  gridPos: place,
  collapsed: z.boolean(),
  panels: z.array(panelShape),
})

const dashboardShape = z.looseObject({
  uid: z.string(),
  title: z.string(),
  tags: z.array(z.string()),
  links: z.array(link),
  annotations: z.object({
    list: z.array(
      z.looseObject({
        name: z.string(),
        datasource: source,
        target: z.union([
          z.looseObject({ expr: z.string().min(1) }),
          z.looseObject({ rawSql: z.string().min(1) }),
        ]),
      }),
    ),
  }),
  templating: z.object({
    list: z.array(z.looseObject({ name: z.string(), type: z.string(), query: z.unknown() })),
  }),
  panels: z.array(z.union([panelShape, rowShape])),
})

export type CommittedDashboard = z.output<typeof dashboardShape>
export type CommittedPanel = z.output<typeof panelShape>

const folder = 'grafana/dashboards'

/** The dashboards that Grafana is given, by the names of their files, each as JSON and read. */
export const committed = readdirSync(pathOf(folder)).map((file) => {
  const json: unknown = JSON.parse(textOf(`${folder}/${file}`))
  return { name: file.replace(/\.json$/, ''), json, dashboard: dashboardShape.parse(json) }
})

/** The panels without the rows' headings, also those of rows that are folded. */
export function panelsOf({ panels }: CommittedDashboard): CommittedPanel[] {
  return panels.flatMap((panel) =>
    panel.type === 'row' ? rowShape.parse(panel).panels : [panelShape.parse(panel)],
  )
}

/** The queries of Prometheus with the panels that they are of. */
export function promQueriesOf(
  dashboard: CommittedDashboard,
): { title: string; expr: string; legend: string }[] {
  return panelsOf(dashboard).flatMap(({ title, targets }) =>
    targets.flatMap((target) => {
      const { expr, legendFormat } = target
      return typeof expr === 'string' ? [{ title, expr, legend: String(legendFormat) }] : []
    }),
  )
}

/** The statements of SQL: of panels, of annotations and of variables. */
export function statementsOf(dashboard: CommittedDashboard): { title: string; sql: string }[] {
  const { annotations, templating } = dashboard
  const targets = [
    ...panelsOf(dashboard).flatMap(({ title, targets: all }) => all.map((target) => ({ title, target }))),
    ...annotations.list.map(({ name, target }) => ({ title: name, target })),
  ]
  const ofTargets = targets.flatMap(({ title, target }) =>
    typeof target.rawSql === 'string' ? [{ title, sql: target.rawSql }] : [],
  )
  const ofVariables = templating.list.flatMap(({ name, query }) =>
    typeof query === 'string' && query.startsWith('select') ? [{ title: name, sql: query }] : [],
  )
  return [...ofTargets, ...ofVariables]
}
