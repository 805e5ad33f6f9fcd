/** From `from` upwards the value has this colour; the first step has no lower end. */
export type Step = { from: number | null; color: 'green' | 'orange' | 'red' | 'blue' }

/** A query of Prometheus. `legend` names a series by labels that the query keeps, like `{{stage}}`. */
export type PromQuery = {
  expr: string
  legend: string
  /** Shows single observations as dots, each with the id by which it is found in the log. */
  exemplars?: true
}

/** A query of the views for accountants. `series`: it has a column `time` and is drawn over it. */
export type SqlQuery = { sql: string; series?: true }

export type PanelKind = 'stat' | 'timeseries' | 'table' | 'bargauge'

/** Grafana's ids of units. `locale` shows all digits, grouped: that of amounts. */
export type Unit = 's' | 'short' | 'none' | 'locale' | 'reqps' | 'ops' | 'percentunit' | 'bytes' | 'string'

/** A section of a page below `docs/`. */
export type DocsLink = `${string}.md#${string}`

export type Panel = {
  title: string
  kind: PanelKind
  /** What it shows, and which decision it serves. */
  description: string
  /** The section of the runbook that says what to do about it, by its anchor. */
  runbook: string
  /** Where what is shown is explained. */
  docs?: DocsLink
  unit: Unit
  queries: readonly [PromQuery, ...PromQuery[]] | readonly [SqlQuery]
  /** Where the value is fine, where it is not, and `noBounds` where neither can be said. */
  thresholds: readonly Step[]
  /** Words shown in place of a value. */
  words?: Readonly<Record<string, { text: string; color: Step['color'] }>>
  /** Units of single columns of a table: by the query's legend, or by the name of the column of SQL. */
  columns?: Readonly<Record<string, Unit>>
  /** Columns of a table in which `thresholds` colour the text; all others stay as they are. */
  colored?: readonly string[]
  /** Series one on top of the other. */
  stacked?: true
  /** Bars in place of lines: for counts of a day. */
  bars?: true
  /** Values can be below zero. */
  signed?: true
  /** In 24ths of the screen. */
  width: number
  /** In rows of 30 pixels. */
  height: number
}

/** `folded`: its panels ask only once somebody opens it. For what costs much. */
export type Row = { title: string; panels: readonly Panel[]; folded?: true }

/** For what is neither good nor bad by itself. */
export const noBounds: readonly Step[] = [{ from: null, color: 'blue' }]

/** The bound of amounts of which none is well, however many decimals the asset has. */
export const leastAmount = Number.MIN_VALUE

/** The more, the worse: green, and from here on orange, and red. */
export function worseFrom(orange: number, red: number): readonly Step[] {
  return [
    { from: null, color: 'green' },
    { from: orange, color: 'orange' },
    { from: red, color: 'red' },
  ]
}

/** Red from here on. */
export function redFrom(red: number): readonly Step[] {
  return [
    { from: null, color: 'green' },
    { from: red, color: 'red' },
  ]
}

/** Orange from here on: to be looked at, and nothing to wake anybody for. */
export function orangeFrom(orange: number): readonly Step[] {
  return [
    { from: null, color: 'green' },
    { from: orange, color: 'orange' },
  ]
}

/** The less, the worse: red, and from here on orange, and green. */
export function betterFrom(orange: number, green: number): readonly Step[] {
  return [
    { from: null, color: 'red' },
    { from: orange, color: 'orange' },
    { from: green, color: 'green' },
  ]
}
