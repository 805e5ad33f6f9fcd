import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as units from '@grafana/grafana-foundation-sdk/units'
import { describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { dashboards, dashboardText } from '../../grafana/source/dashboards.ts'
import { alerts, recordings } from '../support/alert-rules.ts'
import { promtoolInstalled, runPromtool } from '../support/promtool.ts'
import { committed, panelsOf, promQueriesOf, statementsOf } from './dashboard-files.ts'
import { findings, pathOf, textOf } from './files.ts'
import { declaredSeries, readPromql, unknownSeries } from './promql.ts'

const names = ['overview', 'pipeline', 'chains', 'reconciliation', 'ledger', 'accountant']
const queries = committed.flatMap(({ name, dashboard }) =>
  promQueriesOf(dashboard).map(({ title, ...query }) => ({ name: `${name}, ${title}`, ...query })),
)
const annotations = committed.flatMap(({ name, dashboard }) =>
  dashboard.annotations.list.flatMap(({ name: title, target: { expr } }) =>
    typeof expr === 'string' ? [{ name: `${name}, ${title}`, expr, legend: '' }] : [],
  ),
)

describe('the dashboards', () => {
  it.each([...dashboards])(
    'have in %s.json what its source says; after a change: npm run dashboards',
    (name, source) => {
      expect(textOf(`grafana/dashboards/${name}.json`)).toBe(dashboardText(source))
    },
  )

  it('are these, each with a name of its own by which alerts and people link to it', () => {
    expect(committed.map(({ name }) => name).toSorted()).toEqual(names.toSorted())
    for (const { name, dashboard } of committed) expect(dashboard.uid).toBe(`depositd-${name}`)
  })

  it('or the rules read every metric that is declared', () => {
    const read = [...queries, ...alerts, ...recordings].map(({ expr }) => expr)
    const shown = new Set(read.flatMap((expr) => readPromql(expr).series.map(withoutSuffix)))
    const all = new Set([...declaredSeries.keys()].map(withoutSuffix))
    expect([...all].filter((name) => !shown.has(name))).toEqual([])
  })

  it('lead to each other, with what is chosen and the time', () => {
    for (const { dashboard } of committed) {
      expect(dashboard.tags).toContain('depositd')
      expect(dashboard.links).toEqual([
        expect.objectContaining({
          type: 'dashboards',
          tags: ['depositd'],
          includeVars: true,
          keepTime: true,
        }),
      ])
    }
  })

  it('mark reorganisations, deploys and closed months; that of accountants, who read no metrics, the months', () => {
    const all = ['Reorganisations', 'Deploys', 'Months of the books']
    for (const { name, dashboard } of committed)
      expect(dashboard.annotations.list.map((one) => one.name)).toEqual(
        name === 'accountant' ? all.slice(2) : all,
      )
  })
})

describe('their queries of Prometheus', () => {
  const asked = [...queries, ...annotations]

  it('read only metrics and labels that there are', () => {
    expect(findings(asked, ({ expr }) => unknownSeries(expr))).toEqual([])
  })

  it('name series by labels that they keep', () => {
    const lost = findings(asked, ({ expr, legend }) => {
      const used = [...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label)
      return used.filter((label) => !readPromql(expr).kept.includes(label))
    })
    expect(lost).toEqual([])
  })

  it('add up no gauge over replicas, nor take one of many counters', () => {
    const added = findings(asked, ({ expr }) =>
      [...expr.matchAll(/\bsum(?: by \([^)]*\))? ?\((depositd_\w+)/g)].map(([, name]) => name),
    )
    expect(added.filter((name) => !/_(?:total|bucket|sum|count)$/.test(name))).toEqual([])
  })
})

describe('their statements of SQL', () => {
  const statements = committed.flatMap(({ name, dashboard }) =>
    statementsOf(dashboard).map(({ title, sql }) => ({ name: `${name}, ${title}`, sql })),
  )

  it('read only views for accountants', () => {
    const odd = findings(statements, ({ sql }) => {
      const read = [...sql.matchAll(/\b(?:from|join)\s+([\w.]+)/g)].map(([, name = '']) => name)
      return read.length === 0 ? ['no view'] : read.filter((name) => !/^accounting\.\w+$/.test(name))
    })
    expect(odd).toEqual([])
  })

  it('take what is chosen as text, and times by macros', () => {
    const known =
      /\$\{(?:network|owner|asset):sqlstring\}|\$__timeFrom\(\)|\$__timeTo\(\)|\$__timeFilter\(\w+\)/g
    expect(findings(statements, ({ sql }) => sql.replace(known, '').match(/\$.*/g) ?? [])).toEqual([])
  })
})

describe.each(committed)('the dashboard $name', ({ dashboard }) => {
  const panels = panelsOf(dashboard)

  it('asks for what can be chosen, and lets choose what it asks for', () => {
    const declared = dashboard.templating.list.map(({ name }) => name)
    const text = JSON.stringify({ panels, annotations: dashboard.annotations })
    const used = [...text.matchAll(/\$\{(\w+)(?::\w+)?\}|\$([a-z]\w*)/g)].map(
      ([, one, other]) => one ?? other,
    )
    expect(new Set(used)).toEqual(new Set(declared))
  })

  it('says of each panel what it shows, and from where on it is bad', () => {
    for (const { title, description, fieldConfig } of panels) {
      expect(description, title).toMatch(/^.{40,}[.)]$/s)
      const [first, ...steps] = fieldConfig.defaults.thresholds.steps
      expect(first?.value, title).toBeNull()
      const values = steps.map(({ value }) => value ?? Number.NaN)
      expect(values, title).toEqual(values.toSorted((one, other) => one - other))
    }
  })

  it("has units that are among Grafana's", () => {
    const published = new Set<unknown>(Object.values(units))
    const used = panels.flatMap(({ fieldConfig: { defaults, overrides } }) => [
      defaults.unit,
      ...overrides.flatMap(({ properties }) =>
        properties.filter(({ id }) => id === 'unit').map(({ value }) => value),
      ),
    ])
    expect(used.filter((unit) => !published.has(unit))).toEqual([])
  })

  it('has no two panels of one title', () => {
    const titles = panels.map(({ title }) => title)
    expect(titles).toEqual([...new Set(titles)])
  })

  it('places its panels side by side, none over another or beyond the edge', () => {
    const overlaps = panels.flatMap((one) =>
      panels.filter((other) => other.id > one.id && overlap(one.gridPos, other.gridPos)),
    )
    expect(overlaps.map(({ title }) => title)).toEqual([])
    expect(panels.filter(({ gridPos: { x, w } }) => x + w > 24)).toEqual([])
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length)
  })
})

describe.skipIf(!promtoolInstalled())('promtool', () => {
  it('can read every query', () => {
    const rules = queries.map(({ expr }, number) => ({
      record: `panel:query:${number}`,
      expr: expr.replace(/\$(?:service|network|asset)\b/g, '.*').replaceAll('$__rate_interval', '1m'),
    }))
    const folder = mkdtempSync(join(tmpdir(), 'depositd-dashboard-'))
    try {
      const file = join(folder, 'queries.yml')
      writeFileSync(file, stringify({ groups: [{ name: 'dashboard', rules }] }))
      expect(runPromtool('check', 'rules', file)).toMatchObject({ status: 0 })
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

describe('the links of panels', () => {
  const links = committed.flatMap(({ name, dashboard }) =>
    panelsOf(dashboard).map(({ title, links: all }) => ({
      name: `${name}, ${title}`,
      targets: all.map(({ url }) => url.replace('${docs:raw}/', '')),
    })),
  )

  it('lead to the runbook, and to sections that there are', () => {
    const anchors = anchorsOfDocs()
    expect(findings(links, ({ targets }) => targets.filter((target) => !anchors.has(target)))).toEqual([])
    expect(links.filter(({ targets: [first = ''] }) => !first.startsWith('runbook.md#'))).toEqual([])
  })

  it('lead to where Grafana has the docs, as the compose file mounts them', () => {
    for (const { dashboard } of committed)
      expect(dashboard.templating.list.find(({ name }) => name === 'docs')).toMatchObject({
        query: '/public/docs',
      })
    expect(textOf('docker-compose.yml')).toContain('./docs:/usr/share/grafana/public/docs:ro')
  })
})

type Place = { x: number; y: number; w: number; h: number }

function overlap(one: Place, other: Place): boolean {
  const across = one.x < other.x + other.w && other.x < one.x + one.w
  return across && one.y < other.y + other.h && other.y < one.y + one.h
}

function withoutSuffix(series: string): string {
  return series.replace(/_(?:bucket|sum|count)$/, '')
}

/** Every heading below `docs/`, as links name it: `page.md#heading-in-lower-case`. */
function anchorsOfDocs(): ReadonlySet<string> {
  const files = readdirSync(pathOf('docs'), { recursive: true, encoding: 'utf8' })
  const pages = files.filter((file) => file.endsWith('.md'))
  return new Set(
    pages.flatMap((page) =>
      [...textOf(`docs/${page}`).matchAll(/^#{1,4} (.+)$/gm)].map(
        ([, heading = '']) => `${page}#${anchorOf(heading)}`,
      ),
    ),
  )
}

function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-')
}
