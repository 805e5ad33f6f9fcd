import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'

type Reported = { resident: number }

function start(lines: number): ChildProcess {
  const child = fork(join(import.meta.dirname, 'log-process.ts'), [String(lines)], { silent: true })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

test('what nobody reads is bounded, and the process ends all the same', async () => {
  const child = start(100_000)
  const [{ resident }] = (await once(child, 'message')) as [Reported]
  expect(resident).toBeLessThan(300_000_000)
  expect(await once(child, 'exit')).toEqual([0, null])
})

test('who reads late gets every line, as long as they fit into what may wait', async () => {
  const child = start(3000)
  await once(child, 'message')
  const { stdout } = child
  if (stdout === null) throw new Error('it has no output')
  const lines = (await text(stdout)).trim().split('\n')
  expect(lines.map((line) => (JSON.parse(line) as { line: number }).line)).toEqual(
    Array.from({ length: 3000 }, (_, place) => place),
  )
})
