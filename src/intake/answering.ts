import type { ServerResponse } from 'node:http'

export type OpenResponses = {
  /** Holds the response until it is closed; then `onIdle` is called if no other is left. */
  add: (response: ServerResponse) => void
  isIdle: () => boolean
  all: () => ServerResponse[]
}

/**
 * The responses that are under way. They stand in places that are used again and not in a Set: one that changes with
 * every request outgrows its tables all the time, V8 links each to the next, and as soon as one is old all of them keep
 * what they held, so that no request is collected young.
 */
export function createAnswering(onIdle: () => void): OpenResponses {
  const places: (ServerResponse | null)[] = []
  const free: number[] = []
  const isIdle = () => free.length === places.length
  return {
    add(response) {
      const place = free.pop() ?? places.length
      places[place] = response
      response.once('close', () => {
        places[place] = null
        free.push(place)
        if (isIdle()) onIdle()
      })
    },
    isIdle,
    all: () => places.filter((response) => response !== null),
  }
}
