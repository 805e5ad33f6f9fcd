import type { RequestHandler } from 'express'
import { afterEach } from 'vitest'
import type { ConsoleSite } from '../../src/ops/console/serve-console.ts'
import type { GaugesReader, GaugeValues } from '../../src/ops/gauges.ts'
import { createMetrics } from '../../src/ops/metrics.ts'
import type { Readiness } from '../../src/ops/readiness.ts'
import { type OpsServer, type OpsSettings, type OpsSources, startOps } from '../../src/ops/server.ts'

export const emptyReading: GaugeValues = {
  live: {
    inbox: { pending: 0, oldest: 0 },
    quarantine: [],
    stages: [],
    mismatches: [],
    atRisk: [],
    causes: [],
    sealAge: 0,
    events: { active: 0, paused: 0, stopped: 0, oldest: 0 },
    unsigned: 0,
    policyWaits: false,
    notifications: [],
    untied: [],
    unexplained: [],
    streams: [],
  },
  totals: { deposits: [], matrix: [], assets: [], balances: [], imbalances: [], coverageGaps: [] },
  scorecard: [],
  queue: {},
}

const now = <Value>(value: Value) => ({ value, ageSeconds: 0 })

/** What a scrape shows of a reading that was made at that moment. */
export function readAs(reading: GaugeValues): GaugesReader {
  const { live, totals, scorecard, queue } = reading
  return () =>
    Promise.resolve({ live: now(live), totals: now(totals), scorecard: now(scorecard), queue: now(queue) })
}

export const running: OpsServer[] = []
afterEach(async () => {
  for (const server of running.splice(0)) await server.stop()
})

/** Pages for nobody who has no token. */
export function siteOf(pages: RequestHandler): ConsoleSite {
  return { pages, admits: () => Promise.resolve(false) }
}

/** An ops server that nothing is shown on yet; it is stopped after the test. */
export async function startUnopened(changes: Partial<OpsSettings> = {}): Promise<OpsServer> {
  const server = await startOps({
    host: '127.0.0.1',
    port: 0,
    metrics: createMetrics('1.2.3', { service: ['default', 'acme'] }),
    ...changes,
  })
  running.push(server)
  return server
}

type Changes = Partial<OpsSettings & Omit<OpsSources, 'readiness'> & Readiness>

/** An ops server of nothing, with these changes; it is stopped after the test. */
export async function startOpsServer(changes: Changes = {}): Promise<string> {
  const { read = readAs(emptyReading), console, checks = [], ...rest } = changes
  const { isNeeded = () => true, ...settings } = rest
  const server = await startUnopened(settings)
  server.open({ read, readiness: { checks, isNeeded }, ...(console && { console }) })
  return server.url
}
