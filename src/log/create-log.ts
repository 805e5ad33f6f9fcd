import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { type DestinationStream, destination, type Logger, pino } from 'pino'
import { Fault } from '../core/errors.ts'
import { shorten } from '../core/shorten.ts'
import { createHidden, type SecretRedactor } from './hide-secrets.ts'

export type LogSettings = {
  level: string
  /** Standard output without it. */
  file?: string
  /** Secrets that are known, to be left out wherever they stand. */
  hidden?: SecretRedactor
}

/** JSON lines on standard output, or in a file. What may hold a secret is left out. */
export function createLog({ level, file, hidden = createHidden() }: LogSettings): Logger {
  if (file !== undefined) mkdirSync(dirname(file), { recursive: true })
  return pino(
    {
      level,
      serializers: { err: describeThrown },
      // On the whole line, so that nothing gets past it, whatever it is written as. Fields are those of the list of events.
      hooks: { streamWrite: hidden.hide },
    },
    openDestination(file),
  )
}

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
function openDestination(file: string | undefined): DestinationStream {
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

/** Causes within causes. */
const depthMax = 5
/** Of several errors at once. */
const errorsMax = 8
/** A server may say as much as it likes, and libraries repeat it. */
const messageMax = 2000
const stackMax = 4000

type ErrorDescription = {
  type: string
  message: string
  code?: unknown
  /** Of a fault of ours. */
  details?: unknown
  stack?: string
  cause?: ErrorDescription
  /** What went wrong together. */
  errors?: ErrorDescription[]
}

/**
 * What was thrown, as it is logged. Libraries hang requests and their headers on their errors; of those nothing is taken.
 */
export function describeThrown(thrown: unknown, depth = 0): ErrorDescription {
  if (!(thrown instanceof Error)) return { type: typeof thrown, message: shorten(String(thrown), messageMax) }
  const { name, message } = thrown
  // One with a code of ours is foreseen: its details say what happened, and where in the program is no matter.
  const isForeseen = thrown instanceof Fault
  const stack = isForeseen ? undefined : thrown.stack
  return {
    type: name,
    message: shorten(message, messageMax),
    ...('code' in thrown && isPlain(thrown.code) && { code: thrown.code }),
    ...(isForeseen && { details: shortened(thrown.details) }),
    ...(stack !== undefined && { stack: shorten(stack, stackMax) }),
    ...(depth < depthMax && deeper(thrown, depth + 1)),
  }
}

function deeper(thrown: Error, depth: number): Pick<ErrorDescription, 'cause' | 'errors'> {
  const errors = thrown instanceof AggregateError ? thrown.errors.slice(0, errorsMax) : []
  return {
    ...(thrown.cause !== undefined && { cause: describeThrown(thrown.cause, depth) }),
    ...(errors.length > 0 && { errors: errors.map((one) => describeThrown(one, depth)) }),
  }
}

/** Each text in it. */
function shortened(value: unknown): unknown {
  if (typeof value === 'string') return shorten(value, messageMax)
  if (Array.isArray(value)) return value.map(shortened)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shortened(one)]))
}

function isPlain(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number'
}
