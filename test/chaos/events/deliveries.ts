import { isDeepStrictEqual } from 'node:util'
import { signStandardWebhook } from '../../support/sign-webhook.ts'

/** A row of the books. Numbers of the database are text. */
export type NumberedEvent = {
  sequence: string
  id: string
  type: string
  deposit: string | null
  previous: string | null
  data: Record<string, unknown>
}

/** A request as it arrived. The receiver has what it accepted, whether or not its answer arrived. */
export type Arrival = {
  headers: Readonly<Record<string, string>>
  body: string
  at: Date
  isAccepted: boolean
}

type Read = Arrival & { event: NumberedEvent }

const clockMaxMs = 5 * 60_000

/**
 * What is wrong with how events reached a receiver, a line each: every one of them is to be there, in the order of their
 * numbers for each deposit, and the same at each resend.
 * @param numbered all that the receiver must have by now; what arrived after these is passed over
 * @param after the number before the first of them
 */
export function faultyDeliveries(
  numbered: readonly NumberedEvent[],
  arrivals: readonly Arrival[],
  { after, secret }: { after: number; secret: string },
): string[] {
  const last = after + numbered.length
  const read = arrivals
    .map((arrival): Read => ({ ...arrival, event: JSON.parse(arrival.body) as NumberedEvent }))
    .filter(({ event }) => Number(event.sequence) <= last)
  const accepted = read.filter(({ isAccepted }) => isAccepted)
  const firsts = [...Map.groupBy(accepted, ({ event }) => event.id).values()].flatMap(
    ([first]) => first ?? [],
  )
  return [
    ...gaps(numbered, after),
    ...missing(numbered, firsts),
    ...unlikeBooks(numbered, firsts),
    ...unlikeFirst(read),
    ...outOfOrder(firsts),
    ...read.filter((one) => !isSigned(one, secret)).map(({ event }) => `${event.sequence} is not signed`),
  ]
}

function gaps(numbered: readonly NumberedEvent[], after: number): string[] {
  const odd = numbered.find(({ sequence }, place) => Number(sequence) !== after + place + 1)
  return odd === undefined ? [] : [`${odd.sequence} follows a gap, or is there twice`]
}

function missing(numbered: readonly NumberedEvent[], firsts: readonly Read[]): string[] {
  const ids = new Set(firsts.map(({ event }) => event.id))
  return numbered
    .filter(({ id }) => !ids.has(id))
    .map(({ sequence, type }) => `${sequence} (${type}) is missing`)
}

/** Also what was never committed. */
function unlikeBooks(numbered: readonly NumberedEvent[], firsts: readonly Read[]): string[] {
  const byId = new Map(numbered.map((event) => [event.id, event]))
  return firsts
    .filter(({ headers, event: { sequence, id, type, deposit, previous, data } }) => {
      const found = { sequence, id, type, deposit, previous, data }
      return headers['webhook-id'] !== id || !isDeepStrictEqual(found, byId.get(id))
    })
    .map(({ body }) => `it is not of the books: ${body}`)
}

function unlikeFirst(read: readonly Read[]): string[] {
  const bodies = new Map(read.toReversed().map(({ event, body }) => [event.sequence, body]))
  return read
    .filter(({ event, body }) => bodies.get(event.sequence) !== body)
    .map(({ event }) => `${event.sequence} was sent again as another`)
}

/** What is about no deposit has an order of its own. */
function outOfOrder(firsts: readonly Read[]): string[] {
  return [...Map.groupBy(firsts, ({ event }) => event.deposit)].flatMap(([deposit, own]) => {
    const sequences = own.map(({ event }) => Number(event.sequence))
    const late = sequences.filter((one, place) => one < (sequences[place - 1] ?? 0))
    return late.map((sequence) => `${sequence} of deposit ${deposit} is out of order`)
  })
}

/** What was refused may have come from a process for which days had passed. */
function isSigned({ headers, body, at, isAccepted }: Arrival, secret: string): boolean {
  const signedAt = new Date(Number(headers['webhook-timestamp']) * 1000)
  const signing = { secret, id: headers['webhook-id'] ?? '', body: Buffer.from(body), at: signedAt }
  const wanted = signStandardWebhook(signing)['webhook-signature'] ?? ''
  const isOfNow = !isAccepted || Math.abs(at.getTime() - signedAt.getTime()) < clockMaxMs
  return isOfNow && (headers['webhook-signature'] ?? '').split(' ').includes(wanted)
}
