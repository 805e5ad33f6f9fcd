import { PassThrough } from 'node:stream'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { createMetrics } from '../../src/ops/metrics.ts'
import { observeWebhooks } from '../../src/ops/observe.ts'

/** An observer with a clock of its own, and what it logged. */
function observe() {
  const lines: string[] = []
  const output = new PassThrough().on('data', (line) => {
    const { msg, outcome, suppressed } = JSON.parse(String(line)) as Record<string, string>
    lines.push(`${msg}: ${outcome}, ${suppressed} suppressed`)
  })
  const metrics = createMetrics('test')
  const clock = { seconds: 1000 }
  const { webhook } = observeWebhooks(metrics, pino(output), () => clock.seconds * 1000)
  return { lines, metrics, clock, webhook }
}

test('a flood of refusals is counted one by one, and logged by a few lines a second', async () => {
  const { lines, metrics, clock, webhook } = observe()
  const refuse = () =>
    webhook({ service: 'acme', outcome: 'bad_signature', seconds: 0.001, reason: 'signature_wrong' })
  for (let number = 0; number < 1000; number++) refuse()
  expect(lines).toEqual(Array(10).fill('webhook refused: bad_signature, 0 suppressed'))
  clock.seconds++
  refuse()
  expect(lines.slice(10)).toEqual(['webhook refused: bad_signature, 990 suppressed'])
  const text = await metrics.registry.metrics()
  expect(text).toContain('depositd_webhook_requests_total{service="acme",outcome="bad_signature"} 1001\n')
})

test('what is kept is counted and not logged', () => {
  const { lines, webhook } = observe()
  for (const outcome of ['stored', 'duplicate', 'conflicting'])
    webhook({ service: 'acme', outcome, seconds: 0.001 })
  expect(lines).toEqual([])
})

test('counters of a service that is added start at 0, and those of the others go on', async () => {
  const { metrics, webhook } = observe()
  webhook({ service: 'acme', outcome: 'stored', seconds: 0.001 })
  metrics.follow({ named: ['acme', 'tern'], polled: [] })
  const text = await metrics.registry.metrics()
  expect(text).toContain('depositd_webhook_requests_total{service="acme",outcome="stored"} 1\n')
  expect(text).toContain('depositd_webhook_requests_total{service="tern",outcome="stored"} 0\n')
})
