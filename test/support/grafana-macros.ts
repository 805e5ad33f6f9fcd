/** What a variable of a dashboard is set to; `all` is what stands for all values, where the dashboard says what. */
export type Chosen = { values: readonly string[]; all: string | null }

export type Macros = {
  variables: ReadonlyMap<string, Chosen>
  from: Date
  to: Date
}

/** As Grafana's Prometheus data source sends it, by the `timeInterval` of 15 s that it is provisioned with. */
export function expandPromql(text: string, macros: Macros): string {
  const seconds = Math.max(1, Math.round((macros.to.getTime() - macros.from.getTime()) / 1000))
  const known = new Map([
    ['__rate_interval', '1m'],
    ['__interval', '15s'],
    ['__range', `${seconds}s`],
    ['__range_s', `${seconds}`],
  ])
  return expand(
    text,
    (name, format = 'regex') => known.get(name) ?? valueOf(macros, name, formats.get(format)),
  )
}

/** As Grafana's PostgreSQL data source sends it. */
export function expandSql(text: string, macros: Macros): string {
  const [from, to] = [quoted(macros.from.toISOString()), quoted(macros.to.toISOString())]
  const timed = text
    .replaceAll('$__timeFrom()', from)
    .replaceAll('$__timeTo()', to)
    .replace(/\$__timeFilter\(([^()]+)\)/g, (_, column: string) => `${column} between ${from} and ${to}`)
  // In any other format the text of a value would be read as SQL.
  return expand(timed, (name, format) =>
    format === 'sqlstring' ? valueOf(macros, name, formats.get(format)) : null,
  )
}

type Format = (values: readonly string[]) => string

const formats: ReadonlyMap<string, Format> = new Map<string, Format>([
  ['raw', (values) => values.join(',')],
  ['sqlstring', (values) => values.map(quoted).join(',')],
  [
    'regex',
    (values) => {
      // What is matched stands in a string, which has a backslash for two.
      const escaped = values.map((value) => value.replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\\$&`))
      return escaped.length > 1 ? `(${escaped.join('|')})` : escaped.join('')
    },
  ],
])

function valueOf({ variables }: Macros, name: string, format: Format | undefined): string | null {
  const chosen = variables.get(name)
  if (chosen === undefined || format === undefined) return null
  return chosen.all ?? format(chosen.values)
}

function expand(text: string, choose: (name: string, format: string | undefined) => string | null): string {
  return text.replace(/\$(?:\{\w+(?::\w+)?\}|\w+)/g, (found) => {
    const [name = '', format] = found.replace(/[${}]/g, '').split(':')
    const value = choose(name, format)
    if (value === null) throw new Error(`${found} cannot be expanded in: ${text}`)
    return value
  })
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
