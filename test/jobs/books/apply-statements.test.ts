import { expect, test } from 'vitest'
import type { Observation, ServiceId, TransferDecision } from '../../../src/core/evidence.ts'
import { applyDue, applyPending } from '../../../src/jobs/books/apply.ts'
import { recordDecisions } from '../../../src/store/books/proposals.ts'
import { inTransaction } from '../../../src/store/database.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { countStatements } from '../../support/count-statements.ts'
import { at, base, channelAddress, claim, delivery, payment, txId, webhook } from '../../support/evidence.ts'

/** What is told of one deposit, by a name of its own. */
function report(name: string) {
  const [tx, out] = [txId(`p${name}`), txId(`f${name}`)]
  const said = { serviceId: `dep_${name}` as ServiceId, deposit: { tx }, settlement: { tx: out } }
  const apart: TransferDecision = {
    kind: 'decision',
    id: `decision_${name}`,
    role: 'deposit',
    network: base,
    tx,
    index: '0',
    to: channelAddress,
    verdict: { kind: 'apart', serviceId: said.serviceId },
    by: 'ann',
    approvedBy: null,
    reason: 'paid for something else',
    receivedAt: at(6),
  }
  return {
    webhook: webhook(said),
    record: claim(said),
    payment: payment({ tx }),
    gone: payment({ tx, stage: 'orphaned', epoch: 1 }),
    delivery: delivery({ tx: out }),
    apart,
  }
}

type Reported = ReturnType<typeof report>
type Work = {
  /** What is applied before, and what the batch that is counted is made of. */
  before: (reported: Reported) => Observation[]
  batch: (reported: Reported) => Observation[]
  /** When the batch is applied, in minutes; soon after all of it came to be, unless it says otherwise. */
  minutes?: number
  leaves: { journals?: number; opened?: number; cleared?: number }
}

const everything = ({ webhook: event, record, payment: paid, delivery: out }: Reported) => [
  event,
  record,
  paid,
  out,
]

/** The work of a batch, and what it does for each deposit. */
const works: Record<string, Work> = {
  webhooks: { before: () => [], batch: (reported) => [reported.webhook], leaves: {} },
  records: { before: () => [], batch: (reported) => [reported.record], leaves: {} },
  chainTransfers: {
    before: () => [],
    batch: (reported) => [reported.payment, reported.delivery],
    leaves: {},
  },
  'whole deposits': { before: () => [], batch: everything, leaves: { journals: 3 } },
  merges: {
    before: (reported) => [reported.payment, reported.delivery],
    batch: (reported) => [reported.record],
    leaves: { journals: 3 },
  },
  'mismatches that open': {
    before: () => [],
    batch: (reported) => [reported.payment],
    minutes: 600,
    leaves: { journals: 1, opened: 1 },
  },
  'mismatches that clear': {
    before: (reported) => [reported.record, reported.payment],
    batch: (reported) => [reported.webhook, reported.delivery],
    minutes: 600,
    leaves: { journals: 2, cleared: 2 },
  },
  reversals: { before: everything, batch: (reported) => [reported.gone], leaves: { journals: 3, opened: 1 } },
  'rechecks that are due': {
    before: (reported) => [reported.record, reported.payment, reported.delivery],
    batch: () => [],
    minutes: 16,
    leaves: { opened: 1 },
  },
  decisions: { before: everything, batch: (reported) => [reported.apart], leaves: {} },
}

test.each(Object.entries(works))(
  '%s take as many statements for one deposit as for five hundred',
  async (_name, work) => {
    let minutes = 6
    await using books = await openBooks({ now: () => at(minutes) })
    const counts: number[] = []
    for (const deposits of [1, 50, 500]) {
      minutes = work.leaves.cleared === undefined ? 6 : 600
      const reported = Array.from({ length: deposits }, (_, place) => report(`${deposits}_${place}`))
      await receive(books, reported.flatMap(work.before))
      await books.settle()
      await receive(books, reported.flatMap(work.batch))
      minutes = work.minutes ?? 6
      const { db, count } = countStatements(books.db)
      const deps = { ...books.deps, db }
      const isDue = work.batch(report('none')).length === 0
      const { journals, mismatches } = await (isDue ? applyDue(deps) : applyPending(deps))
      const changed = (change: string) => mismatches.filter((one) => one.change === change).length
      expect({ journals, opened: changed('opened'), cleared: changed('cleared') }).toMatchObject(
        Object.fromEntries(Object.entries(work.leaves).map(([what, each]) => [what, each * deposits])),
      )
      counts.push(count())
    }
    expect(new Set(counts)).toEqual(new Set([counts[0]]))
    expect(counts[0]).toBeGreaterThan(5)
  },
)

/** What applying copies of one webhook returns from the database, beside the inbox rows themselves. */
async function rowsReadFor(books: Books, name: string, copies: number): Promise<number> {
  const { webhook: event } = report(name)
  const received = Array.from({ length: copies }, (_, place) => at(6 + place / 1000))
  await receive(
    books,
    received.map((receivedAt) => ({ ...event, receivedAt })),
  )
  const { db, rows } = countStatements(books.db)
  expect(await applyPending({ ...books.deps, db })).toMatchObject({ rows: copies, groups: 1 })
  return rows() - copies
}

test('of a thousand copies of one webhook in a batch none is read back', async () => {
  await using books = await openBooks()
  const few = await rowsReadFor(books, 'few', 10)
  expect(few).toBeGreaterThan(0)
  expect(await rowsReadFor(books, 'many', 1000)).toBe(few)
})

test('those of an earlier batch are read once', async () => {
  await using books = await openBooks()
  const alone = await rowsReadFor(books, 'alone', 1)
  await rowsReadFor(books, 'known', 1000)
  const { webhook: event } = report('known')
  await receive(books, [event])
  const { db, rows } = countStatements(books.db)
  await applyPending({ ...books.deps, db })
  expect(rows()).toBeLessThan(1000 + alone + 10)
})

async function receive(books: Books, observations: readonly Observation[]): Promise<void> {
  await books.receive(...observations)
  const decisions = observations.filter((one) => one.kind === 'decision')
  await inTransaction(books.owner, (tx) => recordDecisions(tx, decisions))
}
