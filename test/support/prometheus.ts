import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { startMonitoring } from './monitoring-server.ts'
import { isInstalled } from './programs-needed.ts'

export const prometheusInstalled = (): boolean => isInstalled('promtool')

const sample = z.tuple([z.number(), z.string().transform(Number)])

const series = z
  .object({
    metric: z.record(z.string(), z.string()),
    value: sample.optional(),
    values: z.array(sample).optional(),
  })
  .transform(({ metric, value, values }) => ({ labels: metric, samples: values ?? (value ? [value] : []) }))

const queryData = z.discriminatedUnion('resultType', [
  z.object({ resultType: z.enum(['vector', 'matrix']), result: z.array(series) }),
  z
    .object({ resultType: z.literal('scalar'), result: sample })
    .transform(({ result }) => ({ result: [{ labels: {}, samples: [result] }] })),
])

const firing = z.object({
  labels: z.record(z.string(), z.string()),
  annotations: z.record(z.string(), z.string()),
  state: z.enum(['pending', 'firing']),
})

const rule = z.object({
  name: z.string(),
  query: z.string(),
  type: z.enum(['alerting', 'recording']),
  health: z.string(),
  lastError: z.string().default(''),
  alerts: z.array(firing).default([]),
})

const ruleData = z.object({
  groups: z.array(z.object({ name: z.string(), file: z.string(), rules: z.array(rule) })),
})

const exemplarData = z.array(
  z.object({
    seriesLabels: z.record(z.string(), z.string()),
    exemplars: z.array(z.object({ labels: z.record(z.string(), z.string()), value: z.string() })),
  }),
)

const answer = z.discriminatedUnion('status', [
  z.object({ status: z.literal('success'), data: z.unknown() }),
  z.object({ status: z.literal('error'), error: z.string() }),
])

/** Each sample is its time in seconds and its value. */
export type Series = {
  labels: Readonly<Record<string, string>>
  samples: readonly (readonly [number, number])[]
}

export type LoadedRule = z.output<typeof rule>

/** Times are in seconds. */
export type Range = { start: number; end: number; step: number }

export type Prometheus = {
  url: string
  /** @throws Error where the query cannot be parsed or evaluated. */
  query: (expression: string) => Promise<Series[]>
  queryRange: (expression: string, range: Range) => Promise<Series[]>
  /** The values of a label among the series that a selector matches, or among all. */
  labelValues: (label: string, selector: string | null) => Promise<string[]>
  exemplars: (expression: string, range: Omit<Range, 'step'>) => Promise<z.output<typeof exemplarData>>
  rules: () => Promise<LoadedRule[]>
  stop: () => Promise<void>
}

/** A throwaway Prometheus on a free loopback port, with this configuration. */
export async function startPrometheus(configuration: string): Promise<Prometheus> {
  const { url, stop } = await startMonitoring('prometheus', async ({ folder, address }) => {
    const file = join(folder, 'prometheus.yml')
    await writeFile(file, configuration)
    return [
      `--config.file=${file}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=${address}`,
      '--enable-feature=exemplar-storage',
      '--log.level=error',
    ]
  })
  return { url, ...queriesOf(url), stop }
}

function queriesOf(url: string): Omit<Prometheus, 'url' | 'stop'> {
  const ask = (path: string, words: Record<string, string>) => call(`${url}/api/v1/${path}`, words)
  return {
    query: async (query) => queryData.parse(await ask('query', { query })).result,
    queryRange: async (query, range) =>
      queryData.parse(await ask('query_range', { query, ...textsOf(range) })).result,
    async labelValues(label, selector) {
      const matching = selector === null ? '' : `?${new URLSearchParams({ 'match[]': selector }).toString()}`
      return z
        .array(z.string())
        .parse(await read(await fetch(`${url}/api/v1/label/${label}/values${matching}`)))
    },
    exemplars: async (query, range) =>
      exemplarData.parse(await ask('query_exemplars', { query, ...textsOf(range) })),
    rules: async () => ruleData.parse(await ask('rules', {})).groups.flatMap(({ rules }) => rules),
  }
}

function textsOf(range: Partial<Range>): Record<string, string> {
  return Object.fromEntries(Object.entries(range).map(([name, value]) => [name, value.toString()]))
}

/** What can be long is asked in a body; rules, which take no words, are asked for alone. */
async function call(address: string, words: Record<string, string>): Promise<unknown> {
  const isBare = Object.keys(words).length === 0
  const body = isBare ? {} : { method: 'POST', body: new URLSearchParams(words) }
  try {
    return await read(await fetch(address, body))
  } catch (error) {
    throw new Error(words.query ?? address, { cause: error })
  }
}

async function read(response: Response): Promise<unknown> {
  const said = answer.parse(await response.json())
  if (said.status === 'error') throw new Error(said.error)
  return said.data
}
