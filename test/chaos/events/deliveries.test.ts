import { expect, test } from 'vitest'
import { signStandardWebhook } from '../../support/sign-webhook.ts'
import { type Arrival, faultyDeliveries, type NumberedEvent } from './deliveries.ts'

const secret = 'whsec_c2VjcmV0IG9mIGEgcmVjZWl2ZXI='
const after = 3
const at = new Date()

function numbered(...deposits: (string | null)[]): NumberedEvent[] {
  return deposits.map((deposit, place) => {
    const sequence = `${after + place + 1}`
    const data = { amount: `${place}` }
    return { sequence, id: `id-${sequence}`, type: 'deposit.observed', deposit, previous: null, data }
  })
}

function arrival(event: NumberedEvent, changes: Partial<Arrival> & { key?: string } = {}): Arrival {
  const body = changes.body ?? JSON.stringify({ ...event, owner: null })
  const signing = {
    secret: changes.key ?? secret,
    id: event.id,
    body: Buffer.from(body),
    at: changes.at ?? at,
  }
  return {
    headers: signStandardWebhook(signing),
    body,
    at,
    isAccepted: changes.isAccepted ?? true,
  }
}

type Tuple = [NumberedEvent, NumberedEvent, NumberedEvent, NumberedEvent, NumberedEvent]

const events = numbered('7', '8', '7', null, null)
const [first, second, third, fourth, fifth] = events as Tuple
const all = events.map((event) => arrival(event))
const found = (arrivals: readonly Arrival[], rows = events) =>
  faultyDeliveries(rows, arrivals, { after, secret })

test('nothing is found where all arrive in order for each deposit, again or not, and more after them', () => {
  const later = { ...first, sequence: '9', id: 'id-9' }
  const crossed = [second, first, fourth, third, first, fifth, second, later].map((event) => arrival(event))
  expect(found(crossed)).toEqual([])
})

test('the time of a refused one may be that of a process for which days had passed', () => {
  expect(found([arrival(first, { at: new Date(0), isAccepted: false }), ...all])).toEqual([])
})

test.each<[string, readonly Arrival[], RegExp]>([
  [
    'is refused and not sent again',
    [arrival(first, { isAccepted: false }), ...all.slice(1)],
    /^4 \(deposit.observed\) is missing$/,
  ],
  ['is missing', all.slice(1), /^4 \(deposit.observed\) is missing$/],
  [
    'comes before the one before it of its deposit',
    [third, first, second, fourth, fifth].map((event) => arrival(event)),
    /^4 of deposit 7 is out of order$/,
  ],
  [
    'about no deposit comes before the one before it',
    [first, second, third, fifth, fourth].map((event) => arrival(event)),
    /^7 of deposit null is out of order$/,
  ],
  [
    'comes again with another body',
    [...all, arrival(first, { body: JSON.stringify({ ...first, owner: 'shop' }) })],
    /^4 was sent again as another$/,
  ],
  [
    'is another than in the books',
    [arrival({ ...first, data: { amount: '5' } }), ...all.slice(1)],
    /^it is not of the books: .*"id-4"/,
  ],
  ['is signed with another key', [...all, arrival(first, { key: 'whsec_b3RoZXI=' })], /^4 is not signed$/],
  [
    'is refused and signed with another key',
    [...all, arrival(first, { key: 'whsec_b3RoZXI=', isAccepted: false })],
    /^4 is not signed$/,
  ],
  ['is signed long ago', [...all, arrival(first, { at: new Date(0) })], /^4 is not signed$/],
])('an event that %s is found', (_what, arrivals, problem) => {
  expect(found(arrivals)).toEqual([expect.stringMatching(problem)])
})

test('an event that comes again with another id is found', () => {
  expect(found([...all, arrival({ ...first, id: 'other' })])).toContainEqual(
    expect.stringMatching(/^it is not of the books: .*"other"/),
  )
})

test('numbers with a gap are found', () => {
  const [one, ...others] = numbered('7', '8').map((event, place) => ({
    ...event,
    sequence: `${4 + 2 * place}`,
  }))
  expect(
    found(
      [],
      [one, ...others].flatMap((event) => event ?? []),
    )[0],
  ).toMatch(/^6 follows a gap/)
})
