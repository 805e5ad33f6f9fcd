import { z } from 'zod'

/**
 * Path of a value in a JSON document: names joined by dots. A number is an index into a list, from the start, or from
 * the end if negative (`timeline.-1.status`). A leading `$.` starts at the whole payload instead of the record.
 */
export const pathSchema = z.string().regex(/^[^.\s]+(\.[^.\s]+)*$/, 'is no path: names joined by dots')

/** Returns the value at a path: `undefined` if it is missing; `null` if it, or a parent, is null. */
export type Lookup = (record: unknown, payload: unknown) => unknown

/** Splits the path once; the result is called for every document. */
export function compilePath(path: string): Lookup {
  const isOfPayload = path.startsWith('$.')
  const names = (isOfPayload ? path.slice(2) : path).split('.')
  return (record, payload) => {
    let place = isOfPayload ? payload : record
    for (const name of names) {
      if (place === null) return null
      place = step(place, name)
      if (place === undefined) return undefined
    }
    return place
  }
}

function step(place: unknown, name: string): unknown {
  if (typeof place !== 'object' || place === null) return undefined
  if (Array.isArray(place)) return /^-?\d{1,4}$/.test(name) ? place.at(Number(name)) : undefined
  return Object.hasOwn(place, name) ? (place as Record<string, unknown>)[name] : undefined
}
