import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { parseServiceFile } from '../../src/config/service-settings.ts'
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

test('so is the one of the tutorial', () => {
  const tutorial = join(import.meta.dirname, '../../docs/tutorials/connect-your-service.md')
  const [, text = ''] = /```yaml\n([^]*?)```/.exec(readFileSync(tutorial, 'utf8')) ?? []
  expect(parseSettingsFile(text)).toMatchObject({
    file: { service: { auth: { scheme: 'hmac' } } },
    faults: [],
  })
})

test("the networks of the daemon's file are taken by the deposit service as they stand", () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/settings.md'), 'utf8')
  const [, example = ''] = /### Example\n\n```yaml\n([^]*?)```/.exec(page) ?? []
  const text = stringify({ networks: (parse(example) as { networks: unknown }).networks })
  const { file, faults } = parseServiceFile(text)
  expect(faults).toEqual([])
  expect(file?.networks).toHaveLength(3)
  expect(file?.networks).toEqual(parseSettingsFile(text).file?.networks)
  expect(parseServiceFile('').file?.networks).toEqual(parseSettingsFile('').file?.networks)
})
