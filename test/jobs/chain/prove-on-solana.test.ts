import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openSolanaProof, type SolanaProof } from '../../support/solana-proof.ts'

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
