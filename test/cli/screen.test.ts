import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { createScreen } from '../../src/cli/screen.ts'
import { openBooks } from '../support/books.ts'

test.each([
  ['that does not know its size', { columns: 0, rows: 0 }, 'deposits: none yet\n'],
  ['that is narrow', { columns: 10, rows: 24 }, 'deposits:\n'],
])('on a terminal %s, lines are shown as far as they fit', async (_name, size, line) => {
  await using books = await openBooks()
  const stdout = Object.assign(new PassThrough(), { isTTY: true, ...size })
  const screen = createScreen(stdout)
  screen.watch(books.db)
  let shown = ''
  await expect.poll(() => (shown += String(stdout.read() ?? ''))).toContain(line)
  screen.stop()
})
