import { untilSame } from './until-same.ts'
import type { ChaosWorld, PaidDeposit } from './world.ts'

/** What a question finds in the books of the world, past the proxies. */
export async function ask<Row extends object>(
  { connect }: ChaosWorld,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const client = await connect()
  try {
    return (await client.query<Row>(text, [...values])).rows
  } finally {
    await client.end()
  }
}

export async function countRows(
  world: ChaosWorld,
  text: string,
  values: readonly unknown[] = [],
): Promise<number> {
  return (await ask(world, text, values)).length
}

export const txsOf = (paid: readonly PaidDeposit[]): string[] => paid.map(({ tx }) => tx)

/** Waits until each payment is one deposit on which all sources agree. */
export function untilReconciled(world: ChaosWorld, paid: readonly PaidDeposit[]): Promise<void> {
  const reconciled = `select from deposit where tx = any($1) and merged_into is null and state = 'reconciled'`
  const count = () => countRows(world, reconciled, [txsOf(paid)])
  return untilSame('payments that are reconciled', count, paid.length)
}
