import type { z } from 'zod'
import type { RequestFault } from '../../core/errors.ts'
import { refusal } from './problem.ts'

type RequestLocation = 'body' | 'parameter'

const faultsMax = 20

/** Parses input at the edge and reports all errors at once, each with its location. */
export function parseRequest<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  place: RequestLocation,
): z.output<Schema> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const faults = result.error.issues.flatMap((issue) => faultsOf(issue, place)).slice(0, faultsMax)
  throw refusal('request_invalid', faults.map(describeFault).join('; ').slice(0, 1000), { errors: faults })
}

function faultsOf(issue: z.core.$ZodIssue, place: RequestLocation): RequestFault[] {
  if (issue.code === 'invalid_union') return faultsOfNearest(issue, place)
  if (issue.code !== 'unrecognized_keys') return [faultAt(issue.path, place, issue.message)]
  const detail = place === 'body' ? 'is not a field of this request' : 'is not a parameter of this call'
  return issue.keys.map((key) => faultAt([...issue.path, key], place, detail))
}

/** Reports the errors of the union member with the fewest, because it is the likeliest to be meant. */
function faultsOfNearest(issue: z.core.$ZodIssueInvalidUnion, place: RequestLocation): RequestFault[] {
  const [nearest] = issue.errors.toSorted((left, right) => left.length - right.length)
  if (nearest === undefined) return [faultAt(issue.path, place, issue.message)]
  return nearest.flatMap((inner) => faultsOf({ ...inner, path: [...issue.path, ...inner.path] }, place))
}

function faultAt(path: readonly PropertyKey[], place: RequestLocation, message: string): RequestFault {
  const detail = message.endsWith('received undefined') ? 'is missing' : message.slice(0, 200)
  return place === 'body'
    ? { pointer: pointerOf(path), detail }
    : { parameter: path.map(String).join('.').slice(0, 200), detail }
}

/** A JSON pointer (RFC 6901). */
export function pointerOf(path: readonly PropertyKey[]): string {
  return path
    .map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`)
    .join('')
    .slice(0, 200)
}

/** `/forward_network: is missing`; an error of the whole body has no location. */
function describeFault({ pointer, parameter, detail }: RequestFault): string {
  const place = pointer ?? parameter ?? ''
  return place === '' ? detail : `${place}: ${detail}`
}
