import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { decideUnsigned } from '../../src/jobs/people/decide.ts'
import { claim, payment, webhook } from '../support/evidence.ts'
import {
  type Document,
  failedOf,
  forged,
  rewrite,
  rowOf,
  verifyDocument,
} from '../support/evidence-bundle.ts'
import { type EvidenceWorld, openEvidenceWorld } from '../support/evidence-world.ts'
import { addPeople, signers } from '../support/people.ts'
import { mismatches, moneyDeps, writeOff, writeOffRequest } from '../support/write-offs.ts'

let world: EvidenceWorld
let text: string

beforeAll(async () => {
  world = await openEvidenceWorld()
  await addPeople(world.books.owner)
  await writeOff(world.books, await overdueIn(world))
  text = await bundleOf(world)
})
afterAll(() => world[Symbol.asyncDispose]())

const unsettled = { status: 'confirmed', settlement: { tx: null, amount: null } } as const

/** @returns the mismatch of a payment whose delivery is overdue */
async function overdueIn({ post, list, see, books }: EvidenceWorld): Promise<bigint> {
  await post(webhook(unsettled))
  await list(claim(unsettled))
  await see(payment())
  await books.settle()
  return (await mismatches(books)).find(({ kind }) => kind === 'settlement_missing')?.id ?? 0n
}

async function bundleOf({ folder, run }: EvidenceWorld): Promise<string> {
  const path = join(folder, 'bundle.json')
  await run(`deposits evidence dep_1 --out ${path}`)
  return readFileSync(path, 'utf8')
}

test('the signatures of a write-off travel in the bundle, and are verified by the key of the first administrator', async () => {
  const printed = await verifyDocument(world, text, { more: ` --administrator ${signers.erin.key}` })
  expect(failedOf(printed)).toEqual([])
  expect(printed.checks.find(({ check }) => check === 'decisions')).toEqual({
    check: 'decisions',
    outcome: 'passed',
    says: '1 signed by the people named; the register begins with the given key',
  })
  const trusting = await verifyDocument(world, text)
  expect(trusting.checks.find(({ check }) => check === 'decisions')?.says).toContain(signers.erin.key)
})

type Signed = { events: { person: string; signature: string }[]; text: string }

function decisionsOf({ parts }: Document): Signed[] {
  return parts.decisions as Signed[]
}

test.each<[string, (document: Document) => void, string]>([
  [
    'another approver',
    (document) => rewrite(rowOf(document, 'person'), '"max"', '"kim"'),
    'is by erin and kim, but erin and max signed it',
  ],
  [
    'another account',
    (document) => rewrite(rowOf(document, 'person'), 'expenses:write_off', 'owner'),
    'in which other things were signed',
  ],
  [
    'a signature of another decision',
    (document) => {
      const [first, , third] = decisionsOf(document)
      const [event] = third?.events ?? []
      if (event) event.signature = first?.events[0]?.signature ?? ''
    },
    'the signature is not valid',
  ],
  ['no second signature', (document) => void decisionsOf(document).at(-1)?.events.pop(), 'which is waiting'],
  ['no decisions', ({ parts }) => void (parts.decisions = []), 'by erin without signatures'],
])('a bundle with %s is refused, though its hashes were made anew', async (_what, alter, says) => {
  const printed = await verifyDocument(world, forged(text, alter), {
    more: ` --administrator ${signers.erin.key}`,
  })
  expect(printed.checks.find(({ check }) => check === 'decisions')).toMatchObject({
    outcome: 'failed',
    says: expect.stringContaining(says),
  })
})

test('a register that begins with another key is refused, and a key that is none', async () => {
  const printed = await verifyDocument(world, text, { more: ` --administrator ${signers.max.key}` })
  expect(failedOf(printed)).toEqual(['decisions'])
  const path = join(world.folder, 'bundle.json')
  expect((await world.run(`evidence verify ${path} --administrator max`)).err).toContain('--administrator')
})

test('a write-off without signatures is named', async () => {
  await using own = await openEvidenceWorld()
  await addPeople(own.books.owner)
  const request = writeOffRequest(await overdueIn(own))
  await decideUnsigned(moneyDeps(own.books), request, { by: 'erin', approvedBy: 'max' })
  const printed = await verifyDocument(own, await bundleOf(own))
  expect(failedOf(printed)).toEqual(['decisions'])
})
