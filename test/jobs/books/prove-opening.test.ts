import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { applyPending } from '../../../src/jobs/books/apply.ts'
import { checkOpening, type Opening, untilDecided } from '../../../src/jobs/books/open-books.ts'
import { proveOpening, readChains } from '../../../src/jobs/books/prove-opening.ts'
import type { PastReader } from '../../../src/jobs/chain/balances-at.ts'
import { openingTransfers } from '../../../src/ledger/opening.ts'
import { readAssetNames } from '../../../src/store/assets.ts'
import { tieWallet } from '../../../src/store/books/withdrawals.ts'
import { inTransaction } from '../../../src/store/database.ts'
import { listBalances } from '../../../src/store/ledger/accounts.ts'
import type { Books } from '../../support/books.ts'
import { at, base, channelAddress, credit, payment, txId, usdcOnBase } from '../../support/evidence.ts'
import { openExampleBooks } from '../../support/example-books.ts'
import { people, problemOf } from '../../support/manual-journals.ts'
import { bookOpening, reverseJournal } from '../../support/unsigned.ts'
import { until } from '../../support/until.ts'

const day = 24 * 60
const paid = day + 9 * 60 + 1
const byHand = { ...people, reason: 'the books begin' }
const transit = 'assets:in_transit:base'

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

/** The example books, whose chain is read and whose StableWallet stated its balance. */
async function openReadBooks(): Promise<Books> {
  const books = await openExampleBooks()
  const position = { final: { height: '20', hash: '0x20' }, seenHeight: '20', trail: [], epoch: 0 }
  await sql`insert into stream (name, cursor) values ('scan/base', ${JSON.stringify(position)}::jsonb)`.execute(
    books.db,
  )
  const balance = 19_980_000n
  await inTransaction(books.db, (tx) =>
    tieWallet(tx, { wallet: 'savings', asset: credit, balance, readAt: at(3 * day), withinMs: 1 }),
  )
  return books
}

async function proofDeps({ owner: db }: Books, held: bigint) {
  const asset = { key: usdcOnBase, network: base, symbol: 'USDC', decimals: 6 }
  const settings = { name: base, family: 'evm', chainId: 1, rpcUrls: ['http://x'], assets: [asset] } as const
  const networks = [{ settings, reader: nodeWith(held) }]
  const assets = await readAssetNames(db)
  return { db, contras: [], creditAsset: credit, networks, assets, now: () => at(3 * day) }
}

test('in transit is what an address holds, or what was delivered from it later; a wallet, what moved since aside', async () => {
  await using books = await openReadBooks()
  const prove = async (held: bigint, minutes: number) => {
    const deps = await proofDeps(books, held)
    const { proofs, balances } = await proveOpening(
      deps,
      at(minutes),
      (await readChains(deps, at(minutes))).chains,
    )
    expect(balances.reduce((sum, { amount }) => sum + amount, 0n)).toBe(0n)
    return proofs.map(({ account, amount, basis }) => `${account} ${amount} ${basis}`)
  }
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

/** From the service, while all that was paid up to then has left its address. */
async function prepare(books: Books, whileReading = () => Promise.resolve()): Promise<Opening> {
  const deps = await proofDeps(books, 0n)
  const [network] = deps.networks
  if (network !== undefined)
    network.reader.readBalances = async (asked) => {
      await whileReading()
      return nodeWith(0n).readBalances(asked)
    }
  const { chains, received } = await readChains(deps, at(paid))
  const prove: Opening['prove'] = (db) => proveOpening({ ...deps, db }, at(paid), chains)
  return { at: at(paid), received, stated: null, toSuspense: false, prove }
}

async function inTransit({ db, settle }: Books): Promise<string | undefined> {
  await settle()
  return (await listBalances(db)).find((one) => one.account === transit && one.asset === usdcOnBase)?.balance
}

const undecided = `the daemon has not decided everything that was received up to ${at(3 * day).toISOString()} yet`

const provedInTransit = (proved: bigint) => ({
  rows: expect.arrayContaining([expect.objectContaining({ account: transit, proved })]) as unknown,
})

test('after a reversal, an opening is refused until the daemon has decided again', async () => {
  await using books = await openReadBooks()
  const deps = await proofDeps(books, 0n)
  const opening = await prepare(books)
  const { id } = await bookOpening(deps, opening, byHand)
  expect(await inTransit(books)).toBe('115.000000')
  const { balances } = await opening.prove(books.db)
  await reverseJournal(books.owner, id, byHand)
  const byFile = { ...opening, stated: { transfers: openingTransfers(balances), lots: [] }, toSuspense: true }
  const problem = `${undecided}; groups of deposits that are due for a decision: 7`
  for (const one of [opening, byFile]) {
    expect(await problemOf(bookOpening(deps, one, byHand))).toBe(problem)
    expect(await problemOf(checkOpening(deps, one))).toBe(problem)
  }
  await books.settle()
  await bookOpening(deps, opening, byHand)
  expect(await inTransit(books)).toBe('115.000000')
})

test('an opening waits for evidence that is not applied, and is booked as proved with it', async () => {
  await using books = await openReadBooks()
  const deps = await proofDeps(books, 0n)
  const opening = await prepare(books)
  expect(await checkOpening(deps, opening)).toMatchObject(provedInTransit(200_000_000n))
  await books.receive(payment({ tx: txId('pay8'), height: 8n, blockAt: at(60), receivedAt: at(2 * day) }))
  expect(await problemOf(bookOpening(deps, opening, byHand))).toBe(
    `${undecided}; observations that wait to be applied: 1`,
  )
  await books.settle()
  expect(await bookOpening(deps, opening, byHand)).toMatchObject(provedInTransit(300_000_000n))
  expect(await inTransit(books)).toBe('215.000000')
})

/** A payment up to the opening, which left its address before it. */
const earlier = payment({ tx: txId('pay8'), height: 8n, blockAt: at(60), receivedAt: at(2 * day) })
/** One that arrives while the books are opened. */
const later = payment({ tx: txId('pay9'), height: 30n, blockAt: at(paid + 5), receivedAt: at(3 * day + 1) })

test('an opening needs no decision about what arrives after the chains were read', async () => {
  await using books = await openReadBooks()
  const deps = await proofDeps(books, 0n)
  const opening = await prepare(books)
  await books.receive(later)
  await sql`update evidence_group set recheck_at = ${at(3 * day + 1)} where id = 1`.execute(books.db)
  expect(await bookOpening(deps, opening, byHand)).toMatchObject(provedInTransit(200_000_000n))
  expect(await inTransit(books)).toBe('115.000000')
})

test('everything received until then is waited for, however much arrives meanwhile, and no payment is lost', async () => {
  await using books = await openReadBooks()
  const deps = await proofDeps(books, 0n)
  const opening = await prepare(books)
  await books.receive(earlier)
  const said: string[] = []
  const wait = (waitMs: number) =>
    untilDecided(() => bookOpening(deps, opening, byHand), { waitMs, report: (line) => said.push(line) })
  expect(await problemOf(wait(0))).toMatch(/: 1$/)
  expect(said).toEqual([])
  const opened = wait(20_000)
  await until('it says that it waits', () => said.length > 0 || null)
  await applyPending(books.deps)
  await books.receive(later)
  expect(await opened).toMatchObject(provedInTransit(300_000_000n))
  expect(said[0]).toContain('observations that wait to be applied: 1')
})

test.each<[string, (books: Books) => Promise<unknown>]>([
  [
    'rows stored while the chains are read, also if the clock of their sender is ahead',
    (books) => books.receive(later),
  ],
  [
    'deposits due for a decision',
    ({ db }) => sql`update evidence_group set recheck_at = ${at(3 * day)} where id = 1`.execute(db),
  ],
])('what was received includes %s', async (_what, whileReading) => {
  await using books = await openReadBooks()
  const deps = await proofDeps(books, 0n)
  const opening = await prepare(books, async () => void (await whileReading(books)))
  expect(await problemOf(bookOpening(deps, opening, byHand))).toMatch(/^the daemon has not decided .*: 1$/)
})

test('what a StableWallet states may contain evidence that is not decided yet', async () => {
  await using books = await openReadBooks()
  const deps = await proofDeps(books, 0n)
  const opening = await prepare(books)
  await books.receive(later)
  const wallet = { wallet: 'savings', asset: credit, balance: 0n, readAt: at(3 * day + 2), withinMs: 1 }
  await inTransaction(books.db, (tx) => tieWallet(tx, wallet))
  expect(await problemOf(bookOpening(deps, opening, byHand))).toMatch(/: 1$/)
})
