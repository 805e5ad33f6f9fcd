import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseServiceFile } from '../../src/config/service-file.ts'
import { parseSettingsFile } from '../../src/config/settings-file.ts'

test('the settings files that the documentation shows are read without a fault', () => {
  const whole = readFileSync(join(import.meta.dirname, '../../docs/settings.md'), 'utf8')
  const [page = '', service = ''] = whole.split('\n## The deposit service\n')
  const [example = ''] = /```yaml\n([^]*?)```/.exec(service)?.slice(1) ?? []
  expect(example).not.toBe('')
  expect(parseServiceFile(example).faults).toEqual([])
  const examples = [...page.matchAll(/```yaml\n([^]*?)```/g)].map(([, text = '']) => text)
  expect(examples.length).toBeGreaterThan(0)
  for (const text of examples) expect(parseSettingsFile(text).faults).toEqual([])
})
