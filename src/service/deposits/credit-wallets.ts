import type { NetworkName } from '../../core/asset.ts'
import { inTransaction } from '../../store/database.ts'
import type { DepositRow, ServiceDatabase } from '../tables.ts'
import { convert, quoteColumns, tooSmall } from './convert.ts'
import type { DepositChange, Deposits } from './deposits.ts'
import type { QuoteSettings } from './quote.ts'

type Crediting = { db: ServiceDatabase; deposits: Deposits; quotes: QuoteSettings }

const batchMax = 100

/**
 * Credits StableWallets with their final deposits from one network, and returns how many states changed. A deposit
 * without a price waits for one.
 */
export function creditWallets({ db, deposits, quotes }: Crediting, network: NetworkName): Promise<number> {
  return inTransaction(db, async (tx) => {
    const waiting = await tx
      .selectFrom('service.deposit')
      .selectAll()
      .where('network', '=', network)
      .where('owner_kind', '=', 'stable_wallet')
      .where('status', '=', 'confirmed')
      .orderBy('sequence')
      .limit(batchMax)
      .forUpdate()
      .execute()
    const now = new Date()
    const changes = waiting
      .map((deposit) => creditOf(deposit, quotes, now))
      .filter((change) => change !== null)
    return (await deposits.change(tx, ['confirmed'], changes)).length
  })
}

function creditOf(deposit: DepositRow, quotes: QuoteSettings, now: Date): DepositChange | null {
  const quoted = convert(quotes, deposit)
  if (quoted === null) return null
  if (quoted.amount === 0n) return tooSmall(deposit, quoted)
  return { id: deposit.id, status: 'credited', to_at: now, ...quoteColumns(quoted) }
}
