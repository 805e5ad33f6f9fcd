import type { Writable } from 'node:stream'

/** Marks errors of the output streams, because connections to servers fail with the same errors. */
const ofReaders = new WeakSet<Error>()

/**
 * Ignores errors of a closed pipe, as behind `| head`: a command finishes its writes to the books and keeps its exit
 * status. A command that runs until it is stopped is stopped.
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

/** Whether the error only says that the reader of the output is gone. */
export function isReaderGone(error: unknown): boolean {
  return error instanceof Error && ofReaders.has(error)
}
