import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { ServiceId } from '../../../src/core/evidence.ts'
import { defaultService } from '../../../src/core/evidence.ts'
import { createWork, type DaemonWork, type WorkDeps } from '../../../src/jobs/work.ts'
import type { DepositClient } from '../../../src/provider/deposit-client.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { at, claim, credit, payment, webhook } from '../../support/evidence.ts'
import { ownProfile } from '../../support/profile.ts'
import { ofDefault, unlistedOwners } from '../../support/scripted-work.ts'

let books: Books
const reported: string[] = []

beforeEach(async () => {
  books = await openBooks()
  reported.length = 0
})
afterEach(() => books[Symbol.asyncDispose]())

function work(changes: Partial<WorkDeps> = {}): DaemonWork {
  return createWork({
    ...books.deps,
    holder: 'me',
    leaseMs: 600_000,
    overlapMs: 0,
    sweepEveryMs: 3_600_000,
    youngMs: 3_600_000,
    quietMs: 3_600_000,
    startHeights: new Map(),
    prices: { urls: [], conversionRates: false },
    assets: new Map(),
    clients: ofDefault(client),
    owners: ofDefault(unlistedOwners),
    wallets: new Map(),
    log: { signer: null, witnesses: [], administratorKey: null },
    creditAsset: credit,
    networks: [],
    proven: [],
    readers: new Map(),
    mayVerify: () => true,
    deliver: () => undefined,
    wake: (job, key = '') => Promise.resolve(void reported.push(`wake ${job} ${key}`.trim())),
    observe: {
      applied: () => undefined,
      polled: () => undefined,
      mismatches: () => undefined,
      jobFailed: () => undefined,
      rewound: () => undefined,
    },
    ...changes,
  })
}

/** A service that lists one record, and nothing else; what it is asked is told. */
const record = { id: 'dep_9', time: at(0), text: '{"id":"dep_9"}' }
const client: DepositClient = {
  service: defaultService,
  list: ownProfile.list,
  listDeposits({ since }) {
    reported.push(since === null ? 'all' : 'list')
    return Promise.resolve({ records: [record], next: null })
  },
  readDeposit(id) {
    reported.push(`read ${id}`)
    return Promise.resolve(id === record.id ? record : null)
  },
}

/** The last poll was so long ago by the database's clock. */
async function age(interval: string): Promise<void> {
  await sql`update stream set succeeded_at = now() - ${interval}::interval`.execute(books.db)
}

test('a poll that stored something has it applied, one that did not lets it be', async () => {
  const { poll } = work()
  await poll('default')
  await age('1 day')
  await poll('default')
  expect(reported).toEqual(['list', 'wake apply', 'list', 'all', 'list'])
})

test('while no deposit is young, the service is asked once in the quiet time', async () => {
  const { poll } = work()
  await poll('default')
  reported.length = 0
  await age('50 minutes')
  await poll('default')
  expect(reported).toEqual([])
  await age('61 minutes')
  await poll('default')
  expect(reported).toEqual(['list'])
})

test('while late records are read back, it is asked each time, with a pause', async () => {
  const { poll } = work()
  await poll('default')
  const back = JSON.stringify({ startedAt: Date.now(), since: 0, readBackTo: null, mark: null })
  await sql`update stream set cursor = jsonb_set(cursor, '{back}', ${back}::jsonb)`.execute(books.db)
  reported.length = 0
  await age('2 seconds')
  await poll('default')
  expect(reported).toEqual(['list', 'list'])
})

test('while a deposit is young, it is asked each time, with a pause', async () => {
  const { poll } = work()
  await books.receive(payment())
  await books.settle()
  await poll('default')
  reported.length = 0
  // Ahead, however slow this machine may be.
  await age('-1 minute')
  await poll('default')
  expect(reported).toEqual([])
  await age('0 seconds')
  await poll('default')
  expect(reported).toEqual(['list'])
  reported.length = 0
  await age('2 seconds')
  await poll('default')
  expect(reported).toEqual(['list'])
  await sql`update deposit set created_at = now() - interval '2 hours'`.execute(books.db)
  await age('2 seconds')
  await poll('default')
  expect(reported).toEqual(['list'])
})

const readsWoken = () => reported.filter((word) => /^wake (?!verify)/.test(word))

test('deposits that webhooks told of are read alone at once; of many, the list is read', async () => {
  const { apply } = work()
  await books.receive(webhook(), claim({ serviceId: 'dep_2' as ServiceId }), payment())
  await apply()
  expect(readsWoken()).toEqual(['wake read dep_1'])
  reported.length = 0
  const ids = Array.from({ length: 21 }, (_, place) => `many_${place}` as ServiceId)
  await books.receive(...ids.map((serviceId) => webhook({ serviceId, deposit: { tx: null } })))
  await apply()
  expect(readsWoken()).toEqual(['wake poll default'])
})

test('they are read after each batch, also while webhooks keep arriving', async () => {
  const more = [webhook({ serviceId: 'dep_2' as ServiceId, deposit: { tx: null } })]
  const wake: WorkDeps['wake'] = (job, key = '') => {
    reported.push(`wake ${job} ${key}`)
    return books.receive(...more.splice(0))
  }
  await books.receive(webhook())
  await work({ wake }).apply()
  expect(readsWoken()).toEqual(['wake read dep_1', 'wake read dep_2'])
})

test('a wake-up that fails is reported once all is applied', async () => {
  await books.receive(webhook())
  const { apply } = work({ wake: () => Promise.reject(new Error('no queue')) })
  await expect(apply()).rejects.toThrow('no queue')
  expect(await books.db.selectFrom('inbox_pending').selectAll().execute()).toEqual([])
})

test('where records cannot be read alone, the list is read at once after a webhook', async () => {
  const { one: _, ...list } = ownProfile.list
  await books.receive(webhook())
  await work({ clients: ofDefault({ ...client, list }) }).apply()
  expect(reported).toContain('wake poll default')
})

test('a record that is read alone is applied where it is new', async () => {
  const { read } = work()
  await read('dep_9')
  await read('dep_9')
  await read('dep_10')
  expect(reported).toEqual(['read dep_9', 'wake apply', 'read dep_9', 'read dep_10'])
})
