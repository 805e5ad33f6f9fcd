import type { Writable } from 'node:stream'

/** Connections to servers fail in the same way, which is another matter. */
const ofReaders = new WeakSet<Error>()

/**
 * Goes on without a word where nobody reads any more, as behind `| head`: what is being written into the books is
 * written, and the exit status stays what it is. What runs until it is stopped is stopped.
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

/** Whether it says no more than that nobody reads what is printed. */
export function isReaderGone(error: unknown): boolean {
  return error instanceof Error && ofReaders.has(error)
}
