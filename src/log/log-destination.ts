import { type DestinationStream, destination } from 'pino'

/** Of lines that nobody has read yet; what comes beyond is lost. */
const waitingMaxBytes = 4 * 1024 * 1024
/** Each takes a tenth of a second. */
const attemptsMax = 20
const againMs = 1000

/**
 * Where lines go. Whoever reads standard output may stand still without closing it, as a terminal or a collector does:
 * work goes on then, what waits is bounded, and a process that is asked to end does not wait for its reader. By itself
 * the library would try for ever, also as the process ends.
 * @param file standard output without it
 */
export function openDestination(file: string | undefined): DestinationStream {
  let attempts = 0
  let isOpen = true
  const stream = destination({
    dest: file ?? 1,
    sync: false,
    maxLength: waitingMaxBytes,
    retryEAGAIN: () => ++attempts < attemptsMax,
  })
  stream.on('write', () => {
    attempts = 0
  })
  stream.on('close', () => {
    isOpen = false
  })
  stream.on('error', (error: unknown) => {
    if (isClosed(error)) return
    if (!isFull(error)) throw error
    attempts = 0
    // Nothing to write is enough to have it tried again. A process that has nothing else to do ends before.
    setTimeout(() => isOpen && stream.write(''), againMs).unref()
  })
  const flushSync = stream.flushSync.bind(stream)
  stream.flushSync = () => {
    attempts = 0
    try {
      flushSync()
    } catch (error) {
      if (!isFull(error)) throw error
    }
  }
  return stream
}

const isFull = (error: unknown) => codeOf(error) === 'EAGAIN'
/** The library writes no more then, and whoever watches standard output has the process end. */
const isClosed = (error: unknown) => codeOf(error) === 'EPIPE'

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
