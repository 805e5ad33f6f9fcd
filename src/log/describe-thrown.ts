/** Causes within causes. */
const depthMax = 5

type Described = {
  type: string
  message: string
  code?: unknown
  /** Of a fault of ours. */
  details?: unknown
  stack?: string
  cause?: Described
  /** What went wrong together. */
  errors?: Described[]
}

/**
 * What was thrown, as it is logged. Libraries hang requests and their headers on their errors; of those nothing is taken.
 */
export function describeThrown(thrown: unknown, depth = 0): Described {
  if (!(thrown instanceof Error)) return { type: typeof thrown, message: String(thrown) }
  const { name, message, stack } = thrown
  return {
    type: name,
    message,
    ...('code' in thrown && isPlain(thrown.code) && { code: thrown.code }),
    ...(name === 'Fault' && 'details' in thrown && { details: thrown.details }),
    ...(stack !== undefined && { stack }),
    ...(depth < depthMax && deeper(thrown, depth + 1)),
  }
}

function deeper(thrown: Error, depth: number): Pick<Described, 'cause' | 'errors'> {
  const errors = thrown instanceof AggregateError ? thrown.errors : []
  return {
    ...(thrown.cause !== undefined && { cause: describeThrown(thrown.cause, depth) }),
    ...(errors.length > 0 && { errors: errors.map((one) => describeThrown(one, depth)) }),
  }
}

function isPlain(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number'
}
