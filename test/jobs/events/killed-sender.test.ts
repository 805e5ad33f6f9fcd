import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Books, openBooks } from '../../support/books.ts'
import { openEventReceiver } from '../../support/event-receiver.ts'
import { addEndpoint, endpointNamed, sendEvents } from '../../support/sent-events.ts'
import { until } from '../../support/until.ts'

let stack: AsyncDisposableStack
let books: Books
beforeEach(async () => {
  stack = new AsyncDisposableStack()
  books = stack.use(await openBooks())
})
afterEach(() => stack.disposeAsync())

const program = join(import.meta.dirname, 'fixtures', 'sender-process.ts')

function startSender(holder: string): ChildProcess {
  const child = spawn(process.execPath, [program, books.url, holder], { stdio: 'inherit' })
  stack.defer(() => void child.kill('SIGKILL'))
  return child
}

test('senders that are killed before the answer is stored lose nothing: others send it again, with the same id', async () => {
  let child: ChildProcess | null = null
  let kills = 0
  const seen: { sequence: number; id: string; deposit: string | null }[] = []
  const { url } = stack.use(
    await openEventReceiver((event) => {
      seen.push(event)
      // It has the event, and the sender does not learn it.
      if (event.sequence % 25 === 0 && seen.filter(({ id }) => id === event.id).length === 1) {
        kills++
        child?.kill('SIGKILL')
        child = startSender(`sender ${kills}`)
        return null
      }
      return 200
    }),
  )
  await addEndpoint(books, { url })
  const sending = stack.use(sendEvents(books))
  await sending.happen(...Array.from({ length: 100 }, (_none, place) => (place % 7) + 1))
  child = startSender('sender 0')
  await until(
    'the last event is stored',
    async () => ((await endpointNamed(books)).delivered === 100n ? true : null),
    60_000,
  )
  expect(kills).toBe(4)
  const bySequence = Map.groupBy(seen, ({ sequence }) => sequence)
  expect(bySequence.size).toBe(100)
  for (const [, same] of bySequence) expect(new Set(same.map(({ id }) => id)).size).toBe(1)
  expect(seen.length).toBeGreaterThanOrEqual(104)
  // Without what came again, each deposit is in order.
  const first = seen.filter((one, place) => seen.findIndex(({ id }) => id === one.id) === place)
  for (const [, some] of Map.groupBy(first, ({ deposit }) => deposit)) {
    const sequences = some.map(({ sequence }) => sequence)
    expect(sequences).toEqual(sequences.toSorted((one, other) => one - other))
  }
}, 90_000)

test('of two senders, one sends to an endpoint at a time, and the other takes over once it is idle', async () => {
  const { url, received } = stack.use(await openEventReceiver())
  await addEndpoint(books, { url })
  const one = stack.use(sendEvents(books, { holder: 'one' }))
  const other = stack.use(sendEvents(books, { holder: 'other' }))
  for (let round = 0; round < 10; round++) {
    await one.happen(1, 2, 1, null)
    await Promise.all([one.deliver(), other.deliver()])
  }
  await one.deliver()
  await other.deliver()
  expect(received).toHaveLength(40)
  expect(new Set(received.map(({ id }) => id)).size).toBe(40)
  expect([...one.failed, ...other.failed]).toEqual([])
})
