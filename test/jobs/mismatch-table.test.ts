import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type MismatchKind, mismatchKinds, type UnreadableKind } from '../../src/core/mismatch.ts'
import { replayKept } from '../../src/jobs/books/replay.ts'
import type { Profile } from '../../src/provider/profile/profile-schema.ts'
import { createClaimReader } from '../../src/provider/read-claim.ts'
import { appendInbox } from '../../src/store/inbox.ts'
import { readText } from '../docs/pages.ts'
import { type Books, openBooks } from '../support/books.ts'
import { at, webhook } from '../support/evidence.ts'
import { coreRows } from '../support/mismatch-rows/core-rows.ts'
import { ownEvent, vocabulary } from '../support/own-payloads.ts'
import { ownProfile } from '../support/profile.ts'

let books: Books

beforeAll(async () => {
  books = await openBooks({ readClaim: createClaimReader(ownProfile, vocabulary) })
})
afterAll(() => books[Symbol.asyncDispose]())

async function openKinds(subject = '%'): Promise<string[]> {
  const { rows } = await sql<{ kind: string }>`
    select kind from open_mismatch where subject like ${subject} order by kind`.execute(books.db)
  return rows.map(({ kind }) => kind)
}

type Payload = { type: string; status: string; address?: string }

const readable: Payload = { type: 'deposit.settled', status: 'settled' }
const { webhook: events, record } = ownProfile
const withKind: Profile = {
  ...ownProfile,
  webhook: { ...events, kind: events.kind && { ...events.kind, words: { 'payout.done': 'deposit' } } },
}
const withStatus: Profile = {
  ...ownProfile,
  record: { ...record, status: { ...record.status, words: { paid_out: 'settled' } } },
}

/** Of payloads: what cannot be read, and the profile by which it can. */
const unreadable: Record<UnreadableKind, { opens: Payload; endedBy: Profile }> = {
  unknown_event: { opens: { ...readable, type: 'payout.done' }, endedBy: withKind },
  unknown_status: { opens: { ...readable, status: 'paid_out' }, endedBy: withStatus },
  schema_drift: { opens: { ...readable, address: 'id' }, endedBy: movedAddress() },
}

function movedAddress(): Profile {
  const { address } = record.deposit
  return {
    ...ownProfile,
    record: { ...record, deposit: { ...record.deposit, address: { ...address, paths: ['source.id'] } } },
  }
}

async function store({ address = 'address', ...reported }: Payload): Promise<void> {
  const event = ownEvent(webhook(), reported)
  const { address: paid, ...source } = event.data.source
  const body = Buffer.from(
    JSON.stringify({ ...event, data: { ...event.data, source: { ...source, [address]: paid } } }),
  )
  const sourceKey = `${reported.type} ${reported.status} ${address}`
  await appendInbox(books.db, [{ source: 'webhook', sourceKey, body, headers: {}, receivedAt: at(4) }])
  await books.settle()
}

describe.each(Object.entries(unreadable))('%s', (kind, { opens, endedBy }) => {
  test('opens for a payload that cannot be read so, and for no other', async () => {
    await store(readable)
    expect(await openKinds('inbox/%')).toEqual([])
    await store(opens)
    expect(await openKinds('inbox/%')).toEqual([kind])
  })

  test('ends by a replay once it can be read, and by no replay before', async () => {
    await replayKept(books.deps, { kinds: 'all', since: null }, () => undefined)
    expect(await openKinds('inbox/%')).toEqual([kind])
    const deps = { ...books.deps, readClaim: createClaimReader(endedBy, vocabulary) }
    await replayKept(deps, { kinds: 'all', since: null }, () => undefined)
    expect(await openKinds('inbox/%')).toEqual([])
  })
})

type Outside = { file: string; tests: readonly string[] }

/** Of what is raised outside of the core: the tests by which it opens, does not, and ends. */
const outside: Partial<Record<MismatchKind, Outside>> = {
  record_disappeared: {
    file: 'test/jobs/poll/sweep-records.test.ts',
    tests: [
      'a record that is no longer there has disappeared, once, until it is back',
      'one that a full reading missed and that is there alone has not disappeared',
    ],
  },
  conflicting_duplicate: {
    file: 'test/store/store-webhooks.test.ts',
    tests: [
      'an id that comes with another body is kept twice, waits to be applied twice, and is a mismatch',
      'what comes again is counted with its times, and stored once',
      'a mismatch opens once and is told once, until a person ended it and yet another body comes',
    ],
  },
  coverage_gap: {
    file: 'test/jobs/chain/backfill.test.ts',
    tests: ['a gap that stays for an hour is a mismatch, until it is closed'],
  },
  rpc_disagreement: {
    file: 'test/jobs/chain/rpc-disagreement.test.ts',
    tests: [
      'where nodes do not agree nothing moves, and the network is told of until they agree on something new',
      'a node that is outvoted is told of, though what the others agree on is stored',
    ],
  },
  history_lost: {
    file: 'test/jobs/chain/network-work.test.ts',
    tests: ['a network that has halted is a mismatch that says how to go on, until it is read again'],
  },
  unexplained_balance: {
    file: 'test/jobs/chain/narrow-differences.test.ts',
    tests: [
      'is narrowed to its block, and stays open while nothing explains it',
      'is closed and stored as a payment where a second reading of the block shows it',
      'is closed once what explains it comes by another way',
      'is told no more once the asset is no longer read',
    ],
  },
  unknown_outflow: {
    file: 'test/jobs/chain/prove-on-anvil.test.ts',
    tests: [
      'what a deposit address sends to a stranger is a mismatch, until the stranger is known',
      'if only another service names its senders, outflows are not checked',
    ],
  },
  address_changed: {
    file: 'test/jobs/provision.test.ts',
    tests: [
      'an answer with another address than the one that is kept is severe, and changes nothing',
      'the audit opens what the lists state otherwise, and ends it once they state it as approved',
      'a network that comes to an owner is no contradiction, and neither is a service without lists',
    ],
  },
  wallet_balance_mismatch: {
    file: 'test/jobs/books/audit-wallets.test.ts',
    tests: [
      'a difference is a mismatch once it has lasted, until the balance is explained',
      'withdrawals and credits under way explain a balance between them',
    ],
  },
  seal_broken: {
    file: 'test/jobs/books/audit-seals.test.ts',
    tests: [
      'books that are as they were sealed raise nothing',
      'a seal whose journals were altered is broken, once, until they are as they were',
      'each run reads some seals on, and ends no mismatch of another, until it begins anew',
    ],
  },
  ledger_imbalance: {
    file: 'test/jobs/books/audit-books.test.ts',
    tests: [
      'books that add up raise nothing, also with deposits on their way and taken back',
      'what a closed deposit still has in transit is an imbalance, until the books are as they were',
      'sums that are kept of days that are over, and do not balance, are an imbalance until they do',
      'what is in transit ties to the balances that were proved, also while payments wait to be booked',
      'a balance that the books do not explain is an imbalance of its address, until they do',
      'a booking of a payment that was never seen is an imbalance, and so is one of another amount',
    ],
  },
}

test('every kind has a row by which it opens and ends', () => {
  const covered = new Set([
    ...coreRows.map(({ kind }) => kind),
    ...Object.keys(unreadable),
    ...Object.keys(outside),
  ])
  expect(Object.keys(mismatchKinds).filter((kind) => !covered.has(kind))).toEqual([])
})

test.each(Object.entries(outside))('%s has the tests that are named', (_kind, { file, tests }) => {
  const text = readText(file)
  expect(tests.filter((name) => !text.includes(`test('${name}'`))).toEqual([])
})
