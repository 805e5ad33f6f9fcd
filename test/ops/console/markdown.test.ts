import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { mismatchKinds } from '../../../src/core/mismatch.ts'
import { markdownHtml, sectionNamed } from '../../../src/ops/console/markdown.ts'

const page = `# Runbook

## Mismatches

### settlement_short
*severe.*

- **Means:** less arrived, see [matching](matching.md).
- **Check:** \`bin/depositd deposits show ID\`
  and compare.

\`\`\`sql
select '### not a heading';
\`\`\`

Then wait.

### settlement_over
Other.
`

describe('a section', () => {
  test('goes up to the next heading', () => {
    expect(sectionNamed(page, 'settlement_short')).toMatch(
      /^\*severe\.\*\n\n- \*\*Means:[^]*### not a heading[^]*Then wait\.$/,
    )
    expect(sectionNamed(page, 'settlement_over')).toBe('Other.')
  })

  test('that is not there is empty', () => {
    expect(sectionNamed(page, 'settlement')).toBe('')
    expect(sectionNamed('', 'settlement_short')).toBe('')
  })

  test.each(Object.keys(mismatchKinds))('of the kind %s is in the runbook', (kind) => {
    const runbook = readFileSync(join(import.meta.dirname, '../../../docs/runbook.md'), 'utf8')
    expect(sectionNamed(runbook, kind).length).toBeGreaterThan(100)
  })
})

test('the forms that the runbook is written in become markup', () => {
  expect(markdownHtml(sectionNamed(page, 'settlement_short')).text).toBe(
    '<p><em>severe.</em></p><ul><li><strong>Means:</strong> less arrived, see matching.</li>' +
      '<li><strong>Check:</strong> <code>bin/depositd deposits show ID</code> and compare.</li></ul>' +
      '<pre>select &#39;### not a heading&#39;;</pre><p>Then wait.</p>',
  )
})

test('whatever is written, it ends and opens no other element', () => {
  const line = fc.constantFrom(
    '```',
    '- a',
    ' b',
    '# c',
    '<script>',
    '',
    '**x',
    '`y',
    '[z](javascript:1)',
    '1. d',
  )
  fc.assert(
    fc.property(fc.array(line), (lines) => {
      const text = markdownHtml(lines.join('\n')).text
      expect(text.replaceAll(/<\/?(?:ul|li|pre|p|h3|code|em|strong)>/g, '')).not.toMatch(/[<>]/)
    }),
  )
})
