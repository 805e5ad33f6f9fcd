import { DatabaseSync } from 'node:sqlite'
import { isDeepStrictEqual } from 'node:util'
import type { Client } from 'pg'

type Entry = { deposit: string; customer: string; asset: string; amount: string }

/** What a consumer has stored: up to which event, and every entry. */
export function readCredits(file: string): { after: number; entries: Entry[] } {
  using db = new DatabaseSync(file, { readOnly: true, timeout: 5000 })
  const { after } = db.prepare('select after from position').get() as { after: number }
  return { after, entries: db.prepare('select deposit, customer, asset, amount from entry').all() as Entry[] }
}

/** Only what adds up to something. */
function sums<One extends { amount: string }>(rows: readonly One[], keyOf: (row: One) => string): object {
  const found = new Map<string, bigint>()
  for (const row of rows) found.set(keyOf(row), (found.get(keyOf(row)) ?? 0n) + BigInt(row.amount))
  const lines = [...found].filter(([, sum]) => sum !== 0n).map(([key, sum]) => [key, `${sum}`])
  return Object.fromEntries(lines)
}

/**
 * Where the credits of customers are others than they must be, a line each: deposit by deposit what the books call safe,
 * and customer by customer what the chains hold as final of these payments. The chains are as the oracle read them last.
 */
export async function wrongCredits(
  client: Client,
  entries: readonly Entry[],
  payments: readonly { tx: string }[],
): Promise<string[]> {
  const byDeposit = ({ deposit, asset }: Pick<Entry, 'deposit' | 'asset'>) => `${deposit} ${asset}`
  const byCustomer = ({ customer, asset }: Pick<Entry, 'customer' | 'asset'>) => `${customer} ${asset}`
  const { rows: safe } = await client.query<Entry>(safeInBooks)
  const { rows: paid } = await client.query<Entry>(paidOnChains, [payments.map(({ tx }) => tx)])
  return [
    ...differences('of the books', sums(entries, byDeposit), sums(safe, byDeposit)),
    ...differences('of the chains', sums(entries, byCustomer), sums(paid, byCustomer)),
  ]
}

function differences(of: string, credited: object, wanted: object): string[] {
  if (isDeepStrictEqual(credited, wanted)) return []
  return [`the credits are ${JSON.stringify(credited)}, and those ${of} ${JSON.stringify(wanted)}`]
}

const safeInBooks = `
  select deposit_id::text as deposit, asset, amount::text as amount from credit_safety as fact
  where action = 'safe' and number = (
    select max(number) from credit_safety as other where other.deposit_id = fact.deposit_id)`

/** Whom the address is of, in the address book. A severe mismatch keeps a payment from being credited. */
const paidOnChains = `
  select book.owner_id as customer, paid.asset, paid.amount::text as amount
  from hold.final_payment as paid
  join address_book as book on (book.network, book.address, book.role) = (paid.network, paid.address, 'deposit')
  where paid.tx = any($1) and not exists (
    select from deposit join mismatch on mismatch.deposit_id = deposit.id
    where deposit.transfer = paid.transfer and severity = 'severe' and cleared_at is null)`
