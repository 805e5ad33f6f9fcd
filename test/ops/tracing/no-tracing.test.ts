import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const program = join(import.meta.dirname, 'fixtures/load-daemon.ts')

async function packagesLoaded(...values: string[]): Promise<string[]> {
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...values], { timeout: 60_000 })
  return JSON.parse(stdout) as string[]
}

test('a daemon that sends no traces loads nothing of OpenTelemetry', async () => {
  expect(await packagesLoaded()).toEqual([])
})

test('one that sends traces loads what that takes', async () => {
  expect(await packagesLoaded('http://127.0.0.1:9/v1/traces')).toContain('@opentelemetry/sdk-trace')
})
