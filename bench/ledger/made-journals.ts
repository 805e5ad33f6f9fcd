import { type Kysely, sql } from 'kysely'
import type { AssetKey } from '../../src/core/asset.ts'
import { accounts } from '../../src/core/chart.ts'
import type { TransferRef } from '../../src/core/evidence.ts'
import type { Amount } from '../../src/core/money.ts'
import type { Journal } from '../../src/core/posting.ts'
import type { Tables } from '../../src/store/tables.ts'

export const asset = 'base/0x00000000000000000000000000000000000000a1' as AssetKey
const depositId = 1n

const channels = 1000
const firstAt = Date.UTC(2026, 0, 1)

/** What all journals are about. */
export async function storeDeposit(db: Kysely<Tables>): Promise<void> {
  await sql`insert into asset (key, network, symbol, decimals) values (${asset}, 'base', 'USDC', 6)`.execute(
    db,
  )
  await sql`
    with made as (insert into evidence_group (recheck_at) values (null) returning id)
    insert into deposit (id, group_id, service_id, state, matrix)
    overriding system value select ${depositId}, id, 'dep_1', 'confirmed', '{}' from made`.execute(db)
}

/** Payments to a thousand channels, one a second, all out of one account in transit: a journal of one transfer each. */
export function makeJournals(from: number, count: number): Journal[] {
  return Array.from({ length: count }, (_, place) => {
    const number = from + place
    const transfer = `base/0x${number.toString(16).padStart(64, '0')}/0` as TransferRef
    const credit = accounts.deposits({ kind: 'channel', id: `channel-${number % channels}` })
    const amount = BigInt(1_000_000 + (number % 997)) as Amount
    return {
      key: `deposit/${transfer}#1`,
      kind: 'deposit',
      transfer,
      depositId,
      reverses: null,
      eventAt: new Date(firstAt + number * 1000),
      transfers: [{ debit: accounts.inTransit('base'), credit, asset, amount }],
    }
  })
}
