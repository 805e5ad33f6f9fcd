import { until } from '../support/until.ts'
import { countRows, txsOf } from './looks.ts'
import type { ChaosWorld } from './world.ts'

/**
 * Pays until something is over, 20 times at the most: one after the other, and the next once the last is applied. What is
 * there at once may be applied in one transaction, and somebody who waits for the second or third one waits in vain.
 */
export async function payUntil(world: ChaosWorld, isOver: () => boolean): Promise<void> {
  const paymentsMax = 20
  for (let count = 0; count < paymentsMax && !isOver(); count++) {
    const paid = txsOf(await world.pay(1))
    const applied = () => countRows(world, 'select from deposit where tx = any($1)', [paid])
    await until('a payment is applied', async () => isOver() || (await applied()) > 0 || null)
  }
}
