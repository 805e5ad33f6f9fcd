import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseSettingsFile } from '../../src/config/settings-file.ts'

test('the settings files that the documentation shows are read without a fault', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/settings.md'), 'utf8')
  const examples = [...page.matchAll(/```yaml\n([^]*?)```/g)].map(([, text = '']) => text)
  expect(examples.length).toBeGreaterThan(0)
  for (const text of examples) expect(parseSettingsFile(text).faults).toEqual([])
})
