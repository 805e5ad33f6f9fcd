import { z } from 'zod'
import type { ServiceDatabase, ServiceDepositRow } from '../tables.ts'
import { refusal } from './problem.ts'

export const depositId = z.strictObject({ id: z.string().max(64) })

/** @throws Fault `request_refused` if there is no deposit with this id */
export async function findDeposit(db: ServiceDatabase, id: string): Promise<ServiceDepositRow> {
  const row = await db.selectFrom('service.deposit').selectAll().where('id', '=', id).executeTakeFirst()
  if (row === undefined) throw noDeposit(id)
  return row
}

export function noDeposit(id: string) {
  return refusal('not_found', `there is no deposit ${id}`)
}
