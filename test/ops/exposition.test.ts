import { pino } from 'pino'
import { expect, test } from 'vitest'
import { createMetrics, metricDescriptions } from '../../src/ops/metrics.ts'
import { createObserver } from '../../src/ops/observe.ts'
import { startOpsServer } from '../support/ops-server.ts'

const prometheus2 =
  'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1'
const prometheus3 =
  'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2'

test.each([
  [prometheus2, 'application/openmetrics-text'],
  [prometheus3, 'application/openmetrics-text'],
  ['Application/OpenMetrics-Text; Version=1.0.0', 'application/openmetrics-text'],
  ['text/html,application/xhtml+xml,*/*;q=0.8', 'text/plain'],
  ['', 'text/plain'],
])('a request that accepts "%s" is answered in %s', async (accept, expected) => {
  expect((await (await start())(accept)).type).toContain(expected)
})

/** A server whose process has seen a webhook and a deposit. */
async function start(): Promise<(accept: string) => Promise<{ type: string; text: string }>> {
  const metrics = createMetrics('1.2.3', { service: ['default'], network: ['base'] })
  const observer = createObserver(metrics, pino({ level: 'silent' }))
  observer.webhook({
    service: 'default',
    outcome: 'stored',
    seconds: 0.02,
    event: 'evt_1',
    traceId: 'ab'.repeat(16),
  })
  metrics.stageLag.observe({ stage: 'finality', service: 'default', network: 'base' }, 700, {
    deposit_id: '42',
  })
  const url = await startOpsServer({ metrics })
  return async (accept) => {
    const response = await fetch(`${url}/metrics`, { headers: { accept } })
    return { type: response.headers.get('content-type') ?? '', text: await response.text() }
  }
}

/** Samples without exemplars, of what does not change from one scrape to the next. */
function ownSamples(text: string): string[] {
  const lines = text.split('\n').filter((line) => line.startsWith('depositd_'))
  return lines.map((line) => line.replace(/ # \{.*$/, ''))
}

test('both forms tell the same values, in whatever order they are asked for', async () => {
  const scrape = await start()
  const before = await scrape('text/plain')
  const open = await scrape(prometheus2)
  const after = await scrape('*/*')
  expect(open.type).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8')
  expect(before.type).toBe('text/plain; version=0.0.4; charset=utf-8')
  expect(ownSamples(open.text)).toEqual(ownSamples(before.text))
  expect(ownSamples(after.text)).toEqual(ownSamples(before.text))
  expect(ownSamples(open.text).length).toBeGreaterThan(100)
})

test('OpenMetrics names families of counters without their ending, and ends with its mark', async () => {
  const { text } = await (await start())(prometheus2)
  expect(text).toContain('# TYPE depositd_webhook_requests counter\n')
  expect(text).toContain('\ndepositd_webhook_requests_total{service="default",outcome="stored"} 1\n')
  expect(text.endsWith('\n# EOF\n')).toBe(true)
  // There a quotation mark would have to be escaped.
  expect(metricDescriptions.filter(({ help }) => help.includes('"'))).toEqual([])
})

test('exemplars say which delivery and which deposit, in OpenMetrics alone', async () => {
  const scrape = await start()
  const { text } = await scrape(prometheus2)
  expect(text).toMatch(
    /^depositd_webhook_ack_seconds_bucket\{le="0.02"\} 1 # \{webhook="evt_1",trace_id="(ab){16}"\} 0.02 \d+(\.\d+)?$/m,
  )
  expect(text).toMatch(
    /^depositd_stage_lag_seconds_bucket\{le="1200",stage="finality",service="default",network="base"\} 1 # \{deposit_id="42"\} 700 \d+(\.\d+)?$/m,
  )
  expect((await scrape('text/plain')).text).not.toContain(' # {')
})

test('an exemplar that is longer than a scrape may hold is left out, and its value counted', async () => {
  const metrics = createMetrics('test')
  metrics.webhookAck.observe({}, 1, { webhook: 'x'.repeat(122) })
  metrics.webhookAck.observe({}, 1, { webhook: 'x'.repeat(121) })
  expect(await metrics.registry.metrics()).toContain('depositd_webhook_ack_seconds_count 2\n')
})
