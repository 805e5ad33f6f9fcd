import {
  type AnnotationQuery,
  type Dashboard,
  DashboardCursorSync,
  type DashboardLink,
  DashboardLinkType,
  type VariableModel,
} from '@grafana/grafana-foundation-sdk/dashboard'
import { layOut } from './lay-out.ts'
import type { Row } from './panel.ts'
import { docsVariable } from './variables.ts'

export type DashboardSource = {
  /** Its file's name; with `depositd-` before it, its uid. */
  name: string
  title: string
  description: string
  /** What can be chosen, beside where the docs are. */
  variables: readonly VariableModel[]
  annotations: readonly AnnotationQuery[]
  rows: readonly Row[]
  /** How far back it looks, as Grafana writes it: `now-6h`. */
  from: string
  /** How often it reads anew; `null` where it only does when asked. */
  refresh: string | null
}

export function createDashboard(source: DashboardSource): Dashboard {
  const { name, title, description, variables, annotations, rows, from, refresh } = source
  return {
    uid: `depositd-${name}`,
    title: `depositd: ${title}`,
    description,
    tags: [tag],
    schemaVersion: 39,
    version: 1,
    editable: false,
    graphTooltip: DashboardCursorSync.Crosshair,
    refresh: refresh ?? '',
    time: { from, to: 'now' },
    timezone: 'browser',
    annotations: { list: [...annotations] },
    links: [others],
    templating: { list: [...variables, docsVariable] },
    panels: layOut(rows),
  }
}

const tag = 'depositd'

/** The other dashboards, with the same networks, assets and times. */
const others: DashboardLink = {
  title: 'depositd',
  type: DashboardLinkType.Dashboards,
  tags: [tag],
  icon: 'external link',
  tooltip: '',
  url: '',
  asDropdown: false,
  targetBlank: false,
  includeVars: true,
  keepTime: true,
}
