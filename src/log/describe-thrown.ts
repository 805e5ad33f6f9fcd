import { Fault } from '../core/errors.ts'
import { shorten } from '../core/shorten.ts'

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
