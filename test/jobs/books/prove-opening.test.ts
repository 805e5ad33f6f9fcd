import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { proveOpening } from '../../../src/jobs/books/prove-opening.ts'
import type { PastReader } from '../../../src/jobs/chain/balances-at.ts'
import { readAssetNames } from '../../../src/store/assets.ts'
import { tieWallet } from '../../../src/store/books/withdrawals.ts'
import { inTransaction } from '../../../src/store/database.ts'
import { at, base, channelAddress, credit, usdcOnBase } from '../../support/evidence.ts'
import { openExampleBooks } from '../../support/example-books.ts'

const day = 24 * 60

/** A node on which only the channel's address holds anything. */
function nodeWith(amount: bigint): NonNullable<PastReader['reader']> {
  return {
    network: base,
    heightAt: () => Promise.resolve(12n),
    readBalances: ({ pairs }) =>
      Promise.resolve({
        at: { height: 12n, hash: '0x12' },
        balances: pairs.map(({ address }) => (address === channelAddress ? amount : 0n)),
      }),
  }
}

test('in transit is what an address holds, or what was delivered from it later; a wallet, what moved since aside', async () => {
  await using books = await openExampleBooks()
  const position = { final: { height: '20', hash: '0x20' }, seenHeight: '20', trail: [], epoch: 0 }
  await sql`insert into stream (name, cursor) values ('scan/base', ${JSON.stringify(position)}::jsonb)`.execute(
    books.db,
  )
  const balance = 19_980_000n
  await inTransaction(books.db, (tx) =>
    tieWallet(tx, { wallet: 'savings', asset: credit, balance, readAt: at(3 * day), withinMs: 1 }),
  )
  const asset = { key: usdcOnBase, network: base, symbol: 'USDC', decimals: 6 }
  const settings = { name: base, family: 'evm', chainId: 1, rpcUrls: ['http://x'], assets: [asset] } as const
  const prove = async (held: bigint, minutes: number) => {
    const networks = [{ settings, reader: nodeWith(held) }]
    const deps = { db: books.db, contras: [], creditAsset: credit, networks }
    const { proofs, balances } = await proveOpening(
      { ...deps, assets: await readAssetNames(books.db) },
      at(minutes),
    )
    expect(balances.reduce((sum, { amount }) => sum + amount, 0n)).toBe(0n)
    return proofs.map(({ account, amount, basis }) => `${account} ${amount} ${basis}`)
  }
  const paid = day + 9 * 60 + 1
  const stated = `stated by the service at ${at(3 * day).toISOString()}`
  expect(await prove(0n, paid)).toEqual([
    'assets:in_transit:base 200000000 block 12, 2 addresses; 200.000000 had left them, and arrived later',
    `assets:stable_wallet:savings 0 ${stated}, less what moved since`,
  ])
  expect(await prove(230_000_000n, paid)).toEqual([
    'assets:in_transit:base 230000000 block 12, 2 addresses',
    `assets:stable_wallet:savings 0 ${stated}, less what moved since`,
  ])
  expect(await prove(0n, day + 14 * 60)).toEqual([
    'assets:in_transit:base 0 block 12, 2 addresses',
    `assets:stable_wallet:savings 19980000 ${stated}`,
  ])
  await sql`update wallet_balance set arriving = 1`.execute(books.db)
  expect((await prove(0n, paid))[1]).toMatch(/ null not proved: credits or withdrawals are under way$/)
  expect((await prove(0n, 4 * day))[1]).toMatch(
    / null not proved: the service stated its balance before then/,
  )
})
