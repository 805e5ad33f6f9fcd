import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { assetKey } from '../../../src/core/asset.ts'
import { honest } from '../../support/solana-node.ts'
import { openSolanaProof, type SolanaProof } from '../../support/solana-proof.ts'
import { owner, solana } from '../../support/solana-watch.ts'

let proof: SolanaProof
beforeEach(async () => {
  proof = await openSolanaProof()
})
afterEach(() => proof[Symbol.asyncDispose]())

test('what came in, what was sent and the fees are explained', async () => {
  await proof.scan()
  await proof.prove()
  proof.payTokens(5n)
  proof.moveLamports(1_000_000n)
  proof.payTokens(-2n)
  proof.moveLamports(-300_000n, 5000n)
  await proof.scan()
  expect(await proof.prove()).toMatchObject({ problems: [], changes: [] })
  expect(await proof.unexplained()).toEqual([])
  const { rows } = await sql`select balance from balance_point order by balance`.execute(proof.books.db)
  expect(rows).toEqual([{ balance: '3' }, { balance: '695000' }])
})

test('a payment that the node had left out is found by the balance, and booked', async () => {
  await proof.scan()
  await proof.prove()
  proof.payTokens(5n)
  const hidden = proof.payTokens(9n)
  proof.fixture.node.lie(({ method, params }) => {
    if (method !== 'getSignaturesForAddress' || params[0] !== proof.fixture.associated) return undefined
    return { result: [] }
  })
  await proof.scan()
  proof.fixture.node.lie(honest)
  expect(await proof.prove()).toMatchObject({ stored: 2, changes: [] })
  expect(await proof.unexplained()).toEqual([])
  const { rows } = await sql`select 1 from chain_transfer where transfer like ${`%${hidden}%`}`.execute(
    proof.books.db,
  )
  expect(rows).toHaveLength(1)
})

test('balances are of what is final when they are read, and wait until scans have come as far', async () => {
  await proof.scan()
  proof.payTokens(5n)
  expect(await proof.prove()).toMatchObject({ read: 2, changes: [] })
  const waiting = sql`select 1 from balance_point where reading is not null`
  expect((await waiting.execute(proof.books.db)).rows).toHaveLength(2)
  await proof.scan()
  expect(await proof.prove()).toMatchObject({ read: 0, changes: [] })
  expect((await waiting.execute(proof.books.db)).rows).toHaveLength(0)
})

test('what nothing explains is told with its slot', async () => {
  await proof.scan()
  await proof.prove()
  proof.payTokens(5n)
  await proof.scan()
  await proof.prove()
  // The account holds more than any transaction has brought.
  proof.slip(4n)
  proof.payTokens(1n)
  proof.payTokens(1n)
  await proof.scan()
  expect(await proof.prove()).toMatchObject({ stored: 0, changes: [{ change: 'opened' }] })
  expect(await proof.unexplained()).toEqual([
    {
      asset: assetKey(solana, proof.fixture.usdc),
      value: '4',
      detail: { address: owner, change: '4', blocks: '1002' },
    },
  ])
})
