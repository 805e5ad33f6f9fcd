import { sql } from 'kysely'
import { expect, onTestFinished } from 'vitest'
import { type Books, late, openBooks } from './books.ts'
import { claim, payment, webhook } from './evidence.ts'
import { addPeople, decideTogether, decisionDeps } from './people.ts'

export const unsettled = { status: 'confirmed', settlement: { tx: null, amount: null, fee: null } } as const
export const reason = 'the service is bankrupt'
const lost = { verdict: 'write_off', account: 'expenses:write_off' } as const
export const withdrawn = { verdict: 'write_off_withdrawn', account: null } as const

/** With erin and max, until the test ends. */
export async function booksWithPeople(): Promise<Books> {
  const books = await openBooks()
  onTestFinished(() => books[Symbol.asyncDispose]())
  await addPeople(books.owner)
  return books
}

/** A payment of 100 USDC whose delivery is overdue, and the number of the mismatch that says so. */
export async function overdue(books: Books): Promise<bigint> {
  await books.receive(webhook(unsettled), claim(unsettled), payment())
  await books.settle()
  const [one] = await mismatches(books)
  expect(one).toMatchObject({ kind: 'settlement_missing', status: 'open' })
  return one?.id ?? 0n
}

export async function mismatches({ db }: Books) {
  const { rows } = await sql<{ id: bigint; kind: string; status: string; reason: string | null }>`
    select id, kind, status, reason from accounting.mismatches order by id`.execute(db)
  return rows
}

export async function openKinds(books: Books): Promise<string[]> {
  return (await mismatches(books)).filter(({ status }) => status === 'open').map(({ kind }) => kind)
}

/** Of every account that holds something. */
export async function balances({ db }: Books): Promise<Record<string, string>> {
  const { rows } = await sql<{ account: string; balance: string }>`
    select account || ' ' || split_part(asset, '/', 1) as account, balance_base::text as balance
    from accounting.balances where balance_base <> 0 order by 1`.execute(db)
  return Object.fromEntries(rows.map(({ account, balance }) => [account, balance]))
}

export async function expectBalanced({ db }: Books): Promise<void> {
  const { rows } = await sql`
    select 1 from ledger_balance group by asset having sum(balance) <> 0`.execute(db)
  expect(rows).toEqual([])
}

let seconds = 0
/** Of two decisions, the later one applies. */
const now = () => new Date(late.getTime() + 1000 * seconds++)

export function moneyDeps(books: Books, limits = new Map<string, string>()) {
  return {
    ...decisionDeps(books.owner, [], async () => ({ ...books.deps, secondPersonAbove: limits })),
    now,
  }
}

type Verdict = typeof lost | typeof withdrawn | { verdict: 'write_off'; account: 'owner' }

export function writeOffRequest(mismatchId: bigint, verdict: Verdict = lost) {
  return { kind: 'write_off', change: { mismatch: `${mismatchId}`, ...verdict, reason } } as const
}

/** By two people. */
export function writeOff(books: Books, mismatchId: bigint, verdict: Verdict = lost) {
  return decideTogether(moneyDeps(books), writeOffRequest(mismatchId, verdict))
}
