import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { openDatabase } from '../../src/store/database.ts'
import type { Tables } from '../../src/store/tables.ts'
import { type NewWebhook, storeWebhooks } from '../../src/store/webhooks.ts'
import { openBooks } from '../support/books.ts'
import { at } from '../support/evidence.ts'

const [writers, commits, keys, bodies] = [4, 25, 12, 3]

/** Some webhooks as they come, no two with one key; the same for the same seed. */
function someArrivals(seed: number): NewWebhook[] {
  let state = seed * 2_654_435_761 + 1
  const draw = (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  const chosen = Array.from({ length: keys }, (_, key) => key).filter(() => draw(2) === 0)
  return chosen
    .toSorted(() => draw(3) - 1)
    .map((key) => ({
      source: 'webhook',
      sourceKey: `evt_${key}`,
      body: Buffer.from(`{"body":${draw(bodies)}}`),
      headers: {},
      receivedAt: at(1),
      copiesAt: Array.from({ length: draw(3) }, () => at(2)),
    }))
}

test('several daemons that store the same ids with the same and other bodies lose none and count each', async () => {
  await using books = await openBooks()
  const came: NewWebhook[] = []
  const daemons = Array.from({ length: writers }, (_, name) =>
    openDatabase<Tables>({ url: books.url, poolMax: 2, applicationName: `daemon ${name}` }),
  )
  await Promise.all(
    daemons.map(async (db, name) => {
      for (let commit = 0; commit < commits; commit++) {
        const arrivals = someArrivals(name * commits + commit)
        came.push(...arrivals)
        await storeWebhooks(db, arrivals)
      }
    }),
  )
  await Promise.all(daemons.map((db) => db.destroy()))

  const distinct = new Set(came.map(({ sourceKey, body }) => `${sourceKey} ${body.toString()}`))
  const conflicting = new Set(came.map(({ sourceKey }) => sourceKey)).size
  const all = came.reduce((count, { copiesAt }) => count + 1 + copiesAt.length, 0)
  const { rows } = await sql`
    select
      (select count(*)::int from inbox) as kept,
      (select count(distinct (split_part(source_key, ' ', 1), body))::int from inbox) as reported_apart,
      (select sum(count)::int from webhook_repeat) as repeats,
      (select count(*)::int from webhook_conflict) as conflicts,
      (select count(*)::int from mismatch where kind = 'conflicting_duplicate') as mismatches`.execute(
    books.db,
  )
  expect(distinct.size).toBe(keys * bodies)
  expect(rows).toEqual([
    {
      kept: distinct.size,
      reported_apart: distinct.size,
      repeats: all - distinct.size,
      conflicts: distinct.size - conflicting,
      mismatches: conflicting,
    },
  ])
})
