import { expect, test } from 'vitest'
import { mismatchKinds } from '../../src/core/mismatch.ts'
import { createMetrics } from '../../src/ops/metrics.ts'
import { generatedPages } from '../support/generate-docs.ts'
import { anchors, tableRows } from '../support/markdown.ts'
import { readText } from './pages.ts'

test.each(generatedPages)('$file says what the code says', ({ file, text }) => {
  expect(readText(file)).toBe(text())
})

test('every kind of mismatch has a heading that can be linked to', () => {
  const found = anchors(readText('docs/mismatches.md'))
  expect(Object.keys(mismatchKinds).filter((kind) => !found.has(kind))).toEqual([])
})

test('the metric of open mismatches names every kind with its severity', async () => {
  const help = (await createMetrics('test').registry.metrics()).match(
    /^# HELP depositd_mismatches_open .*$/m,
  )?.[0]
  for (const severity of ['severe', 'warning', 'info']) {
    const kinds = Object.entries(mismatchKinds).filter(([, entry]) => entry.severity === severity)
    expect(help).toContain(`${severity}: ${kinds.map(([kind]) => kind).join(', ')}.`)
  }
})

test('the metrics page lists what a process really exposes, type and labels included', async () => {
  const { registry } = createMetrics('test')
  const exposed = registry
    .getMetricsAsArray()
    .map((metric) => ({ labelNames: [] as string[], ...metric }))
    .filter(({ name }) => name.startsWith('depositd_'))
    .map(({ name, type, labelNames }) => [name, type, labelNames.join(' ')])
  const rows = tableRows(readText('docs/metrics.md')).filter(({ cells }) => cells.length === 4)
  const listed = rows
    .filter(({ name }) => name.startsWith('depositd_'))
    .map(({ name, cells: [type, _unit, labels = ''] }) => [name, type, labels.replaceAll('`', '')])
  expect(listed).toEqual(exposed)
  expect(await registry.metrics()).toContain('depositd_build_info{version="test"} 1')
})
