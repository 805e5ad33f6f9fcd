import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { balancesAt } from '../../../src/jobs/chain/balances-at.ts'
import { openBooks } from '../../support/books.ts'
import { at, channelAddress, usdcOnBase, walletAddress } from '../../support/evidence.ts'
import { startChain } from '../../support/made-up-chain.ts'
import { openSolanaProof } from '../../support/solana-proof.ts'
import { owner, solana } from '../../support/solana-watch.ts'

const amounts = (of: bigint) =>
  new Map([
    [channelAddress, of],
    [walletAddress, 0n],
  ])

test('without nodes that keep past balances, later proved balances less what moved since tell them', async () => {
  await using books = await openBooks()
  const chain = await startChain(books)
  chain.assets = [usdcOnBase]
  await chain.happen(
    { height: 101n, change: 70n, shown: 'scan' },
    { height: 105n, change: -30n, shown: 'scan' },
    { height: 108n, change: 5n, shown: 'scan' },
  )
  await chain.scanTo(110n)
  await chain.prove()
  const { reader, settings } = chain.network()
  const past = (height: bigint) => {
    const dated = { ...reader, heightAt: () => Promise.resolve(height) }
    return balancesAt({ db: books.db, settings, reader: dated }, at(0), [channelAddress, walletAddress])
  }
  const read = { asset: usdcOnBase, basis: 'block 105, 2 addresses' }
  expect(await past(105n)).toEqual([{ ...read, amounts: amounts(40n) }])
  chain.forgotten = 109n
  const basis = 'block 105, 2 addresses, from later balances less what moved since'
  expect(await past(105n)).toEqual([{ asset: usdcOnBase, amounts: amounts(40n), basis }])
  const unread = 'the node no longer has the balances of block 98; 2 of 2 addresses are not proved'
  expect(await past(98n)).toEqual([{ asset: usdcOnBase, amounts: null, basis: unread }])
  await chain.happen({ height: 115n, change: 9n, shown: 'never' })
  await chain.scanTo(120n)
  await chain.prove()
  expect(await past(105n)).toMatchObject([{ amounts: null }])
  await expect(past(120n)).rejects.toMatchObject({ code: 'usage_bad' })
})

test('Solana nodes keep no past balances, and the proved ones tell those of an earlier slot', async () => {
  await using proof = await openSolanaProof()
  await proof.scan()
  await proof.prove()
  const reader = proof.fixture.reader()
  proof.payTokens(5n)
  proof.moveLamports(1_000_000n)
  await proof.scan()
  const { rows } = await sql<{ height: bigint }>`
    select height from chain_network where network = ${solana}`.execute(proof.books.db)
  const moment = await reader.timeAt(rows[0]?.height ?? 0n)
  proof.payTokens(-2n)
  proof.moveLamports(-300_000n, 5000n)
  await proof.scan()
  const past = { db: proof.books.db, settings: proof.fixture.settings(), reader }
  const unproved = await balancesAt(past, moment, [owner])
  expect(unproved.map(({ amounts: read }) => read)).toEqual([null, null])
  await proof.prove()
  const proved = await balancesAt(past, moment, [owner])
  expect(new Set(proved.map(({ amounts: read }) => read?.get(owner)))).toEqual(new Set([1_000_000n, 5n]))
})
