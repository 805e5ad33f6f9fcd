import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { type DestinationStream, destination, type Logger, pino } from 'pino'
import { Fault, shorten } from '../core/errors.ts'
import { createHidden, type SecretRedactor } from './hide-secrets.ts'

export type LogSettings = {
  level: string
  /** Default: standard output. */
  file?: string
  hidden?: SecretRedactor
}

export function createLog({ level, file, hidden = createHidden() }: LogSettings): Logger {
  if (file !== undefined) mkdirSync(dirname(file), { recursive: true })
  return pino(
    {
      level,
      serializers: { err: describeThrown },
      // The whole line, so that no field or encoding is missed.
      hooks: { streamWrite: hidden.hide },
    },
    openDestination(file),
  )
}

/** Lines that wait for a reader; those beyond it are lost. */
const waitingMaxBytes = 4 * 1024 * 1024
/** Attempts of a tenth of a second each. */
const attemptsMax = 20
const againMs = 1000

/**
 * A reader of standard output may stop reading without closing it. Work then continues, and a process that ends does
 * not wait for it; by default, the library would retry forever.
 * @param file default: standard output
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
    // An empty write makes the library try again. The timer does not keep an idle process alive.
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
/** The code that watches standard output ends the process. */
const isClosed = (error: unknown) => codeOf(error) === 'EPIPE'

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}

const depthMax = 5
const errorsMax = 8
/** A server can send messages of any length, and libraries repeat them. */
const messageMax = 2000
const stackMax = 4000

type ErrorDescription = {
  type: string
  message: string
  code?: unknown
  /** Only for our own faults. */
  details?: unknown
  stack?: string
  cause?: ErrorDescription
  errors?: ErrorDescription[]
}

/** Ignores the requests and headers that libraries attach to errors. */
export function describeThrown(thrown: unknown, depth = 0): ErrorDescription {
  if (!(thrown instanceof Error)) return { type: typeof thrown, message: shorten(String(thrown), messageMax) }
  const { name, message } = thrown
  // Expected faults: a stack adds nothing to their details.
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

function shortened(value: unknown): unknown {
  if (typeof value === 'string') return shorten(value, messageMax)
  if (Array.isArray(value)) return value.map(shortened)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shortened(one)]))
}

function isPlain(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number'
}
