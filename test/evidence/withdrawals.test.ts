import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Amount } from '../../src/core/money.ts'
import { verifyBundle } from '../../src/evidence/verify-bundle.ts'
import { delivery, payment, txId, webhook, withdrawal } from '../support/evidence.ts'
import { type Document, failedOf, forged, verifyDocument } from '../support/evidence-bundle.ts'
import { type EvidenceWorld, openEvidenceWorld } from '../support/evidence-world.ts'

let world: EvidenceWorld
let text: string

const part = (index: string, amount: bigint) => delivery({ index, amount: amount as Amount })

/** One transaction forwards a deposit and pays two withdrawals, of which one is paid in part. */
beforeAll(async () => {
  world = await openEvidenceWorld()
  const tx = txId('forward')
  await world.see(payment())
  await world.post(webhook())
  await world.withdraw(withdrawal({ tx }))
  await world.withdraw(withdrawal({ tx, withdrawalId: 'w-2', amount: 50_000_000n }))
  await world.see(delivery(), part('8', 40_000_000n), part('9', 49_000_000n))
  await world.books.settle()
  const path = join(world.folder, 'bundle.json')
  expect(await world.run(`deposits evidence dep_1 --out ${path}`)).toMatchObject({ status: 0, err: '' })
  text = readFileSync(path, 'utf8')
})
afterAll(() => world[Symbol.asyncDispose]())

type Journals = { key: string; kind: string; recordedAt?: string }[]
type Verdict = { withdrawals: { state: string; mismatch: unknown }[]; toBook: unknown[] }

const journalsIn = ({ parts }: Document) => parts.journals as Journals
const verdictIn = ({ parts }: Document) => parts.verdict as Verdict

test('a bundle holds the withdrawals of its group with their journals, and is verified', async () => {
  const document = JSON.parse(text) as Document
  expect(journalsIn(document).filter(({ kind }) => kind === 'withdrawal')).toEqual([
    expect.objectContaining({ recordedAt: expect.stringMatching(/^\d{4}-/) as string }),
  ])
  expect(verdictIn(document).withdrawals.map(({ state }) => state)).toEqual(['paid', 'unproved'])
  const verified = await verifyDocument(world, text)
  expect(verified.checks.filter(({ outcome }) => outcome === 'failed')).toEqual([])
})

test.each<[string, string, (document: Document) => void]>([
  [
    'a journal is missing',
    'verdict',
    (document) => {
      document.parts.journals = journalsIn(document).filter(({ kind }) => kind !== 'withdrawal')
    },
  ],
  [
    'a journal is still to be booked',
    'journals',
    (document) => void verdictIn(document).toBook.push(...journalsIn(document)),
  ],
  [
    'another state is stated',
    'verdict',
    (document) => void Object.assign(verdictIn(document).withdrawals[1] ?? {}, { state: 'paid' }),
  ],
  [
    'its mismatch is withheld',
    'mismatches',
    (document) => {
      document.parts.mismatches = []
    },
  ],
])('it is refused if %s', (_what, check, alter) => {
  expect(failedOf(verifyBundle(forged(text, alter)))).toContain(check)
})
