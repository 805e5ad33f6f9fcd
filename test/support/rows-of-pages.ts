import { sql } from 'kysely'
import { defaultService, type ServiceId } from '../../src/core/evidence.ts'
import { activateRules } from '../../src/jobs/books/activate-rules.ts'
import { proposeMatches } from '../../src/jobs/books/propose-matches.ts'
import { pollDeposits } from '../../src/jobs/poll/poll.ts'
import { keepQuarantined } from '../../src/store/quarantine.ts'
import type { Books } from './books.ts'
import { at, delivery, payment } from './evidence.ts'
import { forwarded } from './example-books.ts'
import { startListing } from './listing.ts'
import { undelivered } from './proposing.ts'
import { seal } from './sealed-books.ts'

/** What the example books lack, so that no page of the console is empty. */
export async function storeRowsOfPages(books: Books): Promise<{ webhook: bigint; deposit: bigint }> {
  await payToday(books)
  await proposeMatch(books)
  await pollService(books)
  await seal(books)
  await changePolicy(books)
  const webhook = await quarantine(books)
  const { rows } = await sql<{
    deposit: bigint
  }>`select deposit_id as deposit from mismatch where id = 1`.execute(books.db)
  return { webhook, deposit: rows[0]?.deposit ?? 0n }
}

/** The scorecard is of the last seven days. */
async function payToday(books: Books): Promise<void> {
  const minutes = Math.floor((Date.now() - at(0).getTime()) / 60_000) - 60
  await books.receive(
    ...forwarded({ number: 30, minutes, paid: 50_000_000n, delivered: 49_950_000n, fee: 50_000n }),
  )
  await books.settle()
}

/** A delivery that no source names, to a deposit that lacks one. */
async function proposeMatch(books: Books): Promise<void> {
  const changes = { serviceId: 'dep_20' as ServiceId }
  await books.receive(undelivered(changes), payment(), delivery())
  await books.settle()
  await proposeMatches(books.deps)
}

/** It lists nothing new. */
async function pollService({ db }: Books): Promise<void> {
  await using listing = await startListing({})
  const times = { leaseMs: 60_000, overlapMs: 0, sweepEveryMs: 0, now: () => new Date() }
  await pollDeposits({ db, client: listing.client, holder: 'test', ...times })
}

/** One is active, and another waits for approval. */
async function changePolicy({ db, owner, deps: { rules } }: Books): Promise<void> {
  const policy = { ...rules.policy, webhookWithinMs: rules.policy.webhookWithinMs + 60_000 }
  await activateRules({ db: owner, rules, now: () => new Date(), withoutApproval: true })
  await activateRules({ db, rules: { ...rules, policy }, now: () => new Date() })
}

async function quarantine({ db }: Books): Promise<bigint> {
  const webhook = { service: defaultService, receivedAt: new Date(), source: '127.0.0.1' }
  const [headers, body] = [{ 'user-agent': 'a sender' }, Buffer.from('{"event":"forged"}')]
  const limits = { rowsMax: 100, bytesMax: 1_000_000 }
  await keepQuarantined(db, [{ ...webhook, headers, body, reason: 'signature_wrong' }], limits)
  const { rows } = await sql<{ id: bigint }>`select id from quarantine`.execute(db)
  return rows[0]?.id ?? 0n
}
