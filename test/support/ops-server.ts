import { afterEach } from 'vitest'
import { createMetrics } from '../../src/ops/metrics.ts'
import { type OpsServer, type OpsSettings, startOps } from '../../src/ops/server.ts'
import type { Reading } from '../../src/ops/show-gauges.ts'

export const emptyReading: Reading = {
  inbox: { pending: 0, oldest: 0 },
  quarantine: 0,
  deposits: [],
  stages: [],
  mismatches: [],
  atRisk: [],
  imbalances: [],
  sealAge: 0,
  untied: [],
  unexplained: [],
  coverageGaps: [],
  streams: [],
  jobs: {},
  scorecard: [],
}

export const running: OpsServer[] = []
afterEach(async () => {
  for (const server of running.splice(0)) await server.stop()
})

/** An ops server of nothing, with these changes; it is stopped after the test. */
export async function startOpsServer(changes: Partial<OpsSettings> = {}): Promise<string> {
  const server = await startOps({
    host: '127.0.0.1',
    port: 0,
    metrics: createMetrics('1.2.3'),
    read: () => Promise.resolve(emptyReading),
    checks: [],
    warnings: () => [],
    ...changes,
  })
  running.push(server)
  return server.url
}
