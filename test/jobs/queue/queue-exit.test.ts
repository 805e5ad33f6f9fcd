import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { queueServers } from '../../support/queue.ts'

const program = (url: string) => `
  import { createQueue, queueLimits } from ${JSON.stringify(join(import.meta.dirname, '../../../src/jobs/queue/queue.ts'))}
  const limits = { ...queueLimits, stopTimeoutMs: 500 }
  const queue = await createQueue({ url: ${JSON.stringify(url)}, name: 'exit', limits, report: (event) => console.log(event) })
  const { promise, resolve } = Promise.withResolvers()
  queue.work({ apply: async () => resolve(), hang: () => new Promise(() => {}) }, { concurrency: 2 })
  await queue.wake('apply')
  await promise
  if (process.argv[1] === 'hang') {
    await queue.wake('hang')
    while ((await queue.counts()).active === 0);
  }
  await queue.stop()
  console.log('stopped')`

for (const { server, missing, begin } of queueServers) {
  describe.skipIf(missing)(`a program with a queue on ${server}`, () => {
    test.each(['', 'hang'])('ends by itself once the queue is stopped (%s)', async (mode) => {
      const { url, end } = await begin()
      const words = ['--input-type=module', '--eval', program(url), mode]
      const { stdout } = await promisify(execFile)(process.execPath, words, { timeout: 120_000 })
      expect(stdout).toBe('stopped\n')
      await end()
    })
  })
}
