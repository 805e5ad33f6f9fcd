import { readFileSync } from 'node:fs'
import { composeConsole } from '../../src/app/console.ts'
import { withCauses } from '../../src/app/metrics.ts'
import { parseSettings, type Settings } from '../../src/config/settings.ts'
import { createGaugesReader, type GaugesReader } from '../../src/ops/gauges.ts'
import { createMetrics } from '../../src/ops/metrics.ts'
import { startOps } from '../../src/ops/server.ts'
import { readGauges, readTotals } from '../../src/store/gauges.ts'
import { readDayScorecard } from '../../src/store/scorecard.ts'
import type { Books } from './books.ts'
import { judgingEnvironment } from './judging-environment.ts'

/**
 * Serves the console of these books as a daemon does.
 * @param environment with other settings, or another way to the same database
 */
export async function serveBooks(
  { db, url }: Books,
  within: AsyncDisposableStack,
  environment: Readonly<Record<string, string>> = judgingEnvironment(url),
): Promise<string> {
  const settings = parseSettings(environment, (path) => readFileSync(path, 'utf8'))
  const ops = await startOps({ host: '127.0.0.1', port: 0, metrics: createMetrics('test') })
  within.defer(() => ops.stop())
  ops.open(
    within.use(
      composeConsole(settings, {
        version: 'test',
        environment,
        services: { names: () => ['default'], followed: () => settings },
        ops,
        gauges: gaugesOf(db, settings),
        readiness: { checks: [], isNeeded: () => true },
      }),
    ),
  )
  return ops.url
}

/** As a daemon reads them. */
export function gaugesOf(db: Books['db'], { alerts }: Settings): { read: GaugesReader } {
  const sources = {
    live: async () => withCauses(await readGauges(db), alerts),
    totals: () => readTotals(db),
    scorecard: () => readDayScorecard(db),
    queue: () => Promise.resolve({ waiting: 4, active: 1 }),
  }
  return { read: createGaugesReader(sources, () => undefined) }
}
