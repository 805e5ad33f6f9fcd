import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Writable } from 'node:stream'

/** Errors of the output streams; connections to servers fail with the same errors. */
const ofReaders = new WeakSet<Error>()

/**
 * With a closed pipe, as behind `head`, a command finishes its writes and keeps its exit status; one that
 * runs until stopped is stopped.
 */
export function outliveReader({ stdout, stderr }: { stdout: Writable; stderr: Writable }): void {
  let isLeft = false
  stdout.on('error', (error) => {
    noteGone(error)
    if (!isLeft && process.listenerCount('SIGTERM') > 0) process.kill(process.pid, 'SIGTERM')
    isLeft = true
  })
  stderr.on('error', noteGone)
}

function noteGone(error: Error): void {
  if (!('code' in error && (error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED'))) throw error
  ofReaders.add(error)
}

export function isReaderGone(error: unknown): boolean {
  return error instanceof Error && ofReaders.has(error)
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
type Signal = (typeof signals)[number]

/** One key press may arrive twice, from the terminal and from npm. */
const urgentAfterMs = 1500

/** Resolves at the first signal; a later one ends the process at once. */
export function untilSignal(asked: readonly Signal[] = signals): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  let askedAt = 0
  for (const signal of asked) {
    process.on(signal, () => {
      if (askedAt !== 0 && Date.now() - askedAt > urgentAfterMs) process.exit(130)
      if (askedAt === 0) askedAt = Date.now()
      resolve(signal)
    })
  }
  return promise
}

export const { version } = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'),
) as {
  version: string
}
