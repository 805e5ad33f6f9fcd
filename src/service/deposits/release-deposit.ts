import { inTransaction } from '../../store/database.ts'
import type { DepositStatus, ServiceDepositRow } from '../tables.ts'
import type { DepositBook } from './deposits.ts'

export type ReleaseOutcome =
  | { kind: 'released'; deposit: ServiceDepositRow }
  | { kind: 'not_found' }
  | { kind: 'wrong_state'; status: DepositStatus }

/** Releases a held deposit. No policy stops it again. */
export function releaseDeposit({ db, deposits }: DepositBook, id: string): Promise<ReleaseOutcome> {
  return inTransaction(db, async (tx): Promise<ReleaseOutcome> => {
    const change = { id, status: 'confirmed', released_at: new Date() } as const
    const [deposit] = await deposits.change(tx, ['held'], [change])
    if (deposit !== undefined) return { kind: 'released', deposit }
    const found = await tx
      .selectFrom('service.deposit')
      .select('status')
      .where('id', '=', id)
      .executeTakeFirst()
    return found === undefined ? { kind: 'not_found' } : { kind: 'wrong_state', status: found.status }
  })
}
