import { expect, test } from 'vitest'
import { defaultService } from '../../src/core/evidence.ts'
import {
  type CoalescedWebhook,
  createInboxWriter,
  type InboxOutcome,
  type ReceivedWebhook,
} from '../../src/intake/inbox-writer.ts'
import { writerBounds } from '../support/intake.ts'

const row = (sourceKey: string, body = '{}', second = 0): ReceivedWebhook => ({
  source: 'webhook',
  service: defaultService,
  sourceKey,
  body: Buffer.from(body),
  headers: {},
  receivedAt: new Date(second * 1000),
})

/** A store whose commits end when the test says so. */
function heldStore() {
  const commits: {
    keys: string[]
    copiesAt: (readonly Date[])[]
    end: (outcomes?: readonly InboxOutcome[]) => void
    fail: (error: Error) => void
  }[] = []
  const store = (rows: readonly CoalescedWebhook[]) =>
    new Promise<readonly InboxOutcome[]>((resolve, reject) => {
      commits.push({
        keys: rows.map((one) => one.sourceKey),
        copiesAt: rows.map((one) => one.copiesAt),
        end: (outcomes = rows.map(() => 'stored' as const)) => resolve(outcomes),
        fail: reject,
      })
    })
  return { commits, store }
}

const settle = () => new Promise(setImmediate)

test('a lone row is committed at once', async () => {
  const { commits, store } = heldStore()
  const { write } = createInboxWriter({ ...writerBounds, store })
  const outcome = write(row('a'))
  expect(commits.map((commit) => commit.keys)).toEqual([['a']])
  commits[0]?.end()
  await expect(outcome).resolves.toBe('stored')
})

test('rows that arrive during a commit share the next one, and there is never a second in flight', async () => {
  const { commits, store } = heldStore()
  const { write } = createInboxWriter({ ...writerBounds, store })
  const outcomes = ['a', 'b', 'c', 'd'].map((key) => write(row(key)))
  await settle()
  expect(commits).toHaveLength(1)
  commits[0]?.end()
  await settle()
  expect(commits.map((commit) => commit.keys)).toEqual([['a'], ['b', 'c', 'd']])
  commits[1]?.end(['stored', 'duplicate', 'stored'])
  await expect(Promise.all(outcomes)).resolves.toEqual(['stored', 'stored', 'duplicate', 'stored'])
})

test('a commit takes no more rows and no more bytes than it may', async () => {
  const { commits, store } = heldStore()
  const { write } = createInboxWriter({ ...writerBounds, store, flushRowsMax: 3, flushBytesMax: 100 })
  const keys = ['first', 'a', 'b', 'c', 'd']
  const outcomes = [
    ...keys.map((key) => write(row(key))),
    ...['e', 'f'].map((key) => write(row(key, 'x'.repeat(200)))),
  ]
  for (let commit = 0; commit < 5; commit++) {
    commits[commit]?.end()
    await settle()
  }
  expect(commits.map((commit) => commit.keys)).toEqual([['first'], ['a', 'b', 'c'], ['d', 'e'], ['f']])
  await expect(Promise.all(outcomes)).resolves.toHaveLength(7)
})

test('copies of one row within a commit are one row and duplicates, and the store is told when they came', async () => {
  const { commits, store } = heldStore()
  const { write } = createInboxWriter({ ...writerBounds, store })
  const outcomes = ['first', 'a', 'a', 'a'].map((key, second) => write(row(key, '{}', second)))
  commits[0]?.end()
  await settle()
  expect(commits[1]).toMatchObject({ keys: ['a'], copiesAt: [[new Date(2000), new Date(3000)]] })
  commits[1]?.end()
  await expect(Promise.all(outcomes)).resolves.toEqual(['stored', 'stored', 'duplicate', 'duplicate'])
})

test('another body under the same key reaches the store in a commit of its own', async () => {
  const { commits, store } = heldStore()
  const { write } = createInboxWriter({ ...writerBounds, store })
  const outcomes = [write(row('first')), write(row('a', '1')), write(row('a', '2'))]
  commits[0]?.end()
  await settle()
  commits[1]?.end()
  await settle()
  expect(commits.map((commit) => commit.keys)).toEqual([['first'], ['a'], ['a']])
  commits[2]?.end(['duplicate'])
  await expect(Promise.all(outcomes)).resolves.toEqual(['stored', 'stored', 'duplicate'])
})

test('a failed commit rejects its rows with the cause, copies included, and no others', async () => {
  const { commits, store } = heldStore()
  const { write } = createInboxWriter({ ...writerBounds, store })
  const outcomes = Promise.allSettled([write(row('a')), write(row('b')), write(row('b'))])
  commits[0]?.end()
  await settle()
  const after = write(row('c'))
  const broken = new Error('connection lost')
  commits[1]?.fail(broken)
  await settle()
  commits[2]?.end()
  expect(await outcomes).toEqual([
    { status: 'fulfilled', value: 'stored' },
    { status: 'rejected', reason: broken },
    { status: 'rejected', reason: broken },
  ])
  await expect(after).resolves.toBe('stored')
})

test('a store that throws instead of rejecting, or forgets a row, rejects the rows too', async () => {
  const throwing = createInboxWriter({
    ...writerBounds,
    store: () => {
      throw new Error('broken')
    },
  })
  await expect(throwing.write(row('a'))).rejects.toThrow('broken')
  const forgetful = createInboxWriter({ ...writerBounds, store: () => Promise.resolve([]) })
  await expect(forgetful.write(row('a'))).rejects.toThrow('invariant broken')
})

test.each([
  ['rows', { waitingMax: 2 }],
  ['bytes', { waitingBytesMax: 3 }],
])('more %s than may wait are refused, until the commit ends', async (_what, bounds) => {
  const { commits, store } = heldStore()
  const { write } = createInboxWriter({ ...writerBounds, store, ...bounds })
  const taken = ['a', 'b', 'c'].map((key) => write(row(key)))
  await expect(write(row('d'))).resolves.toBe('overloaded')
  commits[0]?.end()
  await settle()
  const later = write(row('d'))
  commits[1]?.end()
  await settle()
  commits[2]?.end()
  await expect(Promise.all([...taken, later])).resolves.toEqual(['stored', 'stored', 'stored', 'stored'])
})

test('a commit that takes too long gives up its rows and those that wait, and refuses more until it ends', async () => {
  const { commits, store } = heldStore()
  const { write } = createInboxWriter({ ...writerBounds, store, flushTimeoutMs: 20 })
  const outcomes = await Promise.allSettled([write(row('a')), write(row('b'))])
  expect(outcomes.map((outcome) => outcome.status)).toEqual(['rejected', 'rejected'])
  await expect(write(row('c'))).rejects.toThrow('no commit within 20 ms')
  commits[0]?.end()
  await settle()
  const recovered = write(row('c'))
  commits[1]?.end()
  await expect(recovered).resolves.toBe('stored')
})
