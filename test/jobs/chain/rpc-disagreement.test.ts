import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { ScanResult } from '../../../src/chain/types.ts'
import { Fault } from '../../../src/core/errors.ts'
import { type ChainWork, createNetworkWork } from '../../../src/jobs/chain/network-work.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { base } from '../../support/evidence.ts'

let books: Books
let work: ChainWork
let reported: string[]
/** What the next scan brings: so many new heights and whoever differs, or nodes that do not agree. */
let next: { heights: bigint; dissent?: string[] } | Fault
let height: bigint

beforeEach(async () => {
  books = await openBooks()
  reported = []
  height = 20n
  work = createNetworkWork({
    ...books.deps,
    holder: 'me',
    leaseMs: 600_000,
    startHeights: new Map([[base, 18n]]),
    assets: new Map(),
    proven: [],
    mayVerify: () => true,
    wake: () => Promise.resolve(),
    observe: {
      mismatches: (all) => void reported.push(...all.map(({ kind, change }) => `${kind} ${change}`)),
      rewound: () => undefined,
    },
    readers: new Map([
      [
        base,
        {
          network: base,
          checkIdentity: () => Promise.resolve(),
          heightAt: () => Promise.resolve(null),
          readRange: () => Promise.reject(new Error('nothing is missing')),
          timeAt: () => Promise.reject(new Error('nothing is searched for')),
          nodesWithout: () => Promise.resolve([]),
          readTransaction: () => Promise.resolve({ kind: 'unknown' }),
          scan: () => (next instanceof Fault ? Promise.reject(next) : Promise.resolve(scanned(next))),
        },
      ],
    ]),
  })
})
afterEach(() => books[Symbol.asyncDispose]())

function scanned({ heights, dissent = [] }: { heights: bigint; dissent?: string[] }): ScanResult {
  const from = height + 1n
  height += heights
  return {
    transfers: [],
    movements: [],
    proved: heights > 0n ? [{ from, to: height }] : [],
    dissent,
    cursor: { final: { height, hash: `0x${height}` }, seenHeight: height, trail: [] },
    headHeight: height + 2n,
    rewoundTo: null,
    more: false,
  }
}

const disagreement = new Fault('rpc_disagreement', {
  network: 'base',
  problem: 'unlike base node one, base node two lacks tx/1',
})

async function open(): Promise<unknown[]> {
  const { rows } = await sql`
    select subject, severity, detail from mismatch where kind = 'rpc_disagreement' and cleared_at is null`.execute(
    books.db,
  )
  return rows
}

async function cursor(): Promise<unknown> {
  const { rows } =
    await sql`select cursor->'final'->>'height' as height from stream where name = 'scan/base'`.execute(
      books.db,
    )
  return rows[0]
}

test('where nodes do not agree nothing moves, and the network is told of until they agree on something new', async () => {
  next = { heights: 2n }
  await work.scan('base')
  const before = await cursor()
  next = disagreement
  await expect(work.scan('base')).rejects.toBe(disagreement)
  await expect(work.scan('base')).rejects.toBe(disagreement)
  expect(await cursor()).toEqual(before)
  expect(await open()).toEqual([
    {
      subject: 'network/base',
      severity: 'severe',
      detail: { problem: 'unlike base node one, base node two lacks tx/1', booked: 'nothing' },
    },
  ])
  next = { heights: 0n }
  await work.scan('base')
  expect(await open()).toHaveLength(1)
  next = { heights: 1n }
  await work.scan('base')
  expect(await open()).toEqual([])
  expect(reported).toEqual(['rpc_disagreement opened', 'rpc_disagreement cleared'])
})

test('a node that is outvoted is told of, though what the others agree on is stored', async () => {
  next = { heights: 2n, dissent: ['base node two has tx/9'] }
  await work.scan('base')
  expect(await cursor()).toEqual({ height: '22' })
  expect(await open()).toMatchObject([
    { detail: { problem: 'base node two has tx/9', booked: 'the result on which the other nodes agree' } },
  ])
})
