import type { AccountId } from '../../src/core/chart.ts'
import type { Amount } from '../../src/core/money.ts'
import { inTransaction } from '../../src/store/database.ts'
import { bookByHand, type ManualJournal } from '../../src/store/ledger/journals.ts'
import type { Books } from './books.ts'
import { at, recipient, usdcOnArbitrum } from './evidence.ts'
import { people } from './manual-journals.ts'

export const treasury = `assets:forwarded:arbitrum:${recipient}` as AccountId
export const bank = 'assets:bank:main' as AccountId
export const drawings = 'equity:drawings' as AccountId

export type OwnMove = { name: string; from: AccountId; to: AccountId; amount: bigint }

/** USDC on Arbitrum, two and a half days after the example books begin. */
export function journalOf({ name, from, to, amount }: OwnMove): Omit<ManualJournal, 'transfer'> {
  const transfers = [{ debit: to, credit: from, asset: usdcOnArbitrum, amount: amount as Amount }]
  return {
    key: `manual/${name}`,
    kind: 'manual',
    depositId: null,
    reverses: null,
    eventAt: at(2.5 * 24 * 60),
    transfers,
  }
}

export async function bookOwn(books: Books, journal: Omit<ManualJournal, 'transfer'>): Promise<void> {
  await inTransaction(books.owner, (tx) => bookByHand(tx, journal, { ...people, reason: 'own funds' }))
}
