import { sql } from 'kysely'
import { type BalanceProofResult, proveBalances } from '../../src/jobs/chain/prove-balances.ts'
import { scanNetwork } from '../../src/jobs/chain/scan.ts'
import { pinAssets } from '../../src/store/assets.ts'
import { saveOwner } from '../../src/store/owners.ts'
import { type Books, openBooks } from './books.ts'
import { at } from './evidence.ts'
import { newAddress } from './solana-ledger.ts'
import { openSolanaFixture, owner, payer, pays, type SolanaFixture, solana } from './solana-watch.ts'

type Reader = ReturnType<SolanaFixture['reader']>

/** The balance proof of one owner on a scripted node, with a database. */
export type SolanaProof = AsyncDisposable & {
  books: Books
  fixture: SolanaFixture
  minutes: number
  scan(): Promise<void>
  prove(reader?: Reader): Promise<BalanceProofResult | string>
  /** Pays tokens to the owner, or from him, in a slot of its own; the signature. */
  payTokens(amount: bigint): string
  moveLamports(amount: bigint, fee?: bigint): string
  /** The account holds so much more, by no transaction. */
  slip(amount: bigint): void
  /** The open mismatches. */
  unexplained(): Promise<unknown[]>
  /** What is stored as final, by transaction. */
  sighted(): Promise<string[]>
}

export async function openSolanaProof(): Promise<SolanaProof> {
  const books = await openBooks()
  const fixture = await openSolanaFixture()
  const { node, usdc, associated } = fixture
  await pinAssets(books.db, fixture.settings().assets)
  await saveOwner(books.db, {
    owner: { kind: 'stable_wallet', id: 'lab' },
    deposits: [{ network: solana, address: owner }],
    forward: null,
  })
  node.addAccount(associated, usdc, owner)
  // What the owner's accounts hold by now.
  let tokens = 0n
  let lamports = 0n
  const deps = () => ({
    db: books.db,
    holder: 'me',
    leaseMs: 600_000,
    now: () => at(proof.minutes++),
  })
  const proof: SolanaProof = {
    books,
    fixture,
    minutes: 0,
    async scan() {
      const { assets } = fixture.settings()
      const known = new Map([[solana, assets.map(({ key }) => key)]])
      const reader = fixture.reader()
      while ((await scanNetwork({ ...deps(), startHeights: new Map(), assets: known }, reader))?.more)
        continue
    },
    prove: (reader = fixture.reader()) => proveBalances(deps(), { reader, settings: fixture.settings() }),
    payTokens(amount) {
      const effects = pays(associated, amount, usdc).map((effect) =>
        effect.account === associated
          ? { ...effect, token: { mint: usdc, owner, before: tokens, after: tokens + amount } }
          : effect,
      )
      tokens += amount
      return node.transact(effects)
    },
    moveLamports(amount, fee = 0n) {
      const before = lamports
      lamports += amount - fee
      const payers = [newAddress(), owner]
      const own = { account: owner, lamports: [before, lamports] as const }
      const other = { account: payers[0] ?? payer, lamports: [10n ** 12n, 10n ** 12n - amount] as const }
      return node.transact(fee > 0n ? [own, other] : [other, own], { fee })
    },
    slip(amount) {
      tokens += amount
    },
    async unexplained() {
      const { rows } = await sql`
        select asset, value, detail from mismatch
        where kind = 'unexplained_balance' and cleared_at is null order by asset`.execute(books.db)
      return rows
    },
    async sighted() {
      const { rows } = await sql<{ tx: string }>`
        select split_part(transfer, '/', 2) as tx from chain_transfer where stage = 'final' order by inbox_id`.execute(
        books.db,
      )
      return rows.map(({ tx }) => tx)
    },
    async [Symbol.asyncDispose]() {
      await node.stop()
      await books[Symbol.asyncDispose]()
    },
  }
  return proof
}
