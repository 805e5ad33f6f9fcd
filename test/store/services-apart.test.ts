import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readGauges, readTotals } from '../../src/store/gauges.ts'
import { readScorecard } from '../../src/store/scorecard.ts'
import type { Books } from '../support/books.ts'
import { at, claim, delivery, payment, txId, usdcOnBase, webhook } from '../support/evidence.ts'
import { acmeAddress, ofAcme, openBooksOfTwo } from '../support/two-services.ts'

let books: Books

/** A reconciled deposit of each service, and a payment to the channel of acme that nobody reports. */
beforeAll(async () => {
  books = await openBooksOfTwo()
  await books.receive(claim(), webhook(), payment(), delivery())
  const acmePays = payment({ to: acmeAddress, tx: txId('acme pays') })
  await books.receive(claim(ofAcme), webhook(ofAcme), acmePays, delivery({ tx: txId('acme delivers') }))
  await books.receive(payment({ to: acmeAddress, tx: txId('unreported') }))
  await books.settle()
  await sql`
    insert into quarantine (service, received_at, source, reason, headers, body, size)
    values ('acme', now(), '10.0.0.1', 'signature_wrong', '{}', '', 1)`.execute(books.db)
})
afterAll(() => books[Symbol.asyncDispose]())

test('deposits, mismatches, losses, causes and refused webhooks are counted by service', async () => {
  const { mismatches, atRisk, cases, stages, quarantine } = await readGauges(books.db)
  expect(mismatches).toMatchObject([{ kind: 'unreported', service: 'acme', count: 1 }])
  expect(atRisk).toEqual([{ service: 'acme', asset: usdcOnBase, severity: 'severe', units: 100 }])
  expect(cases).toMatchObject([{ kind: 'unreported', service: 'acme' }])
  expect(new Set(stages.map(({ service }) => service))).toEqual(new Set(['acme']))
  expect(quarantine).toEqual([{ service: 'acme', count: 1 }])
  const { deposits } = await readTotals(books.db)
  expect(deposits.map(({ service, state, count }) => `${service} ${state} ${count}`).toSorted()).toEqual([
    'acme confirmed 1',
    'acme reconciled 1',
    'default reconciled 1',
  ])
})

test('the scorecard has a part for each service, the default one first', async () => {
  const lines = await readScorecard(books.db, { from: at(-10_000), to: at(10_000) })
  expect(lines.map(({ service, scope, deposits }) => [service, scope, deposits])).toEqual([
    ['default', 'service', 1n],
    ['default', 'route', 1n],
    ['acme', 'service', 2n],
    ['acme', 'route', 1n],
    ['acme', 'route', 1n],
  ])
  expect(lines.filter(({ scope }) => scope === 'service').map(({ webhooks }) => webhooks)).toEqual([1n, 1n])
})

test.each([
  ['mismatches', ['acme']],
  ['mismatch_ageing', ['acme']],
  ['value_at_risk', ['acme']],
  ['in_transit_age', ['acme']],
  ['fees', ['acme', 'default']],
  ['daily_totals', ['acme', 'default']],
])('accounting.%s names the service', async (view, services) => {
  const { rows } = await sql<{ service: string }>`
    select distinct service from ${sql.table(`accounting.${view}`)} order by service`.execute(books.db)
  expect(rows.map(({ service }) => service)).toEqual(services)
})
