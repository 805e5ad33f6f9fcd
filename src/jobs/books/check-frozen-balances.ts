import { type FrozenBalanceLine, hashBalance } from '../../ledger/frozen-balance.ts'
import {
  closingsOf,
  type FrozenBesideMade,
  findIntruders,
  frozenBesideMade,
  type PeriodClose,
} from '../../store/ledger/frozen-balances.ts'
import type { LedgerCheck } from './ledger-checks.ts'

/** How many accounts are named per close. */
const namedMax = 3

/**
 * Checks every frozen trial balance: it equals the sum of the journals at the time of the close, it has the SHA-256
 * that the close recorded, and no journal was booked into the closed month since.
 */
export const checkFrozenBalances: LedgerCheck = {
  name: 'closed months',
  run: (db, report) =>
    db
      .transaction()
      .setIsolationLevel('repeatable read')
      .execute(async (tx) => {
        const closings = await closingsOf(tx)
        const checked = new Map(closings.map((closing) => [closing.id, startOf(closing)]))
        if (closings.length > 0) report(`closed months: adding up the books of ${closings.length}`)
        let lines = 0
        for await (const rows of frozenBesideMade(tx)) {
          for (const row of rows) compare(checked.get(row.closingId), row)
          lines += rows.length
        }
        const intruders = await findIntruders(tx)
        const findings = [...checked.values()].flatMap(findingsOf)
        for (const { period, journals, first } of intruders)
          findings.push(
            `${period} is closed, and was booked into all the same: journal ${first}, ${journals} in all`,
          )
        return { findings, counted: { closes: closings.length, lines } }
      }),
}

type FrozenBalanceCheck = {
  closing: PeriodClose
  frozen: ReturnType<typeof hashBalance>
  made: ReturnType<typeof hashBalance>
  differing: string[]
  count: number
}

function startOf(closing: PeriodClose): FrozenBalanceCheck {
  const { period } = closing
  return { closing, frozen: hashBalance(period), made: hashBalance(period), differing: [], count: 0 }
}

function compare(
  checked: FrozenBalanceCheck | undefined,
  { frozen, made, account, asset }: FrozenBesideMade,
): void {
  if (checked === undefined) return
  if (frozen !== null) checked.frozen.add({ account, asset, ...frozen })
  if (made !== null) checked.made.add({ account, asset, ...made })
  const [is, shouldBe] = [sidesOf(frozen), sidesOf(made)]
  if (is === shouldBe) return
  checked.count++
  if (checked.count <= namedMax)
    checked.differing.push(`${account} in ${asset} is frozen with ${is}, the journals say ${shouldBe}`)
}

function sidesOf(sides: Pick<FrozenBalanceLine, 'debit' | 'credit'> | null): string {
  return sides === null ? 'nothing' : `debit ${sides.debit}, credit ${sides.credit}`
}

function findingsOf({ closing, frozen, made, differing, count }: FrozenBalanceCheck): string[] {
  const { period, at, sha256 } = closing
  const name = `${period}, closed at ${at.toISOString()}`
  const others = count > differing.length ? [`${name}: ${count - differing.length} more accounts differ`] : []
  const isFrozen = frozen.digest() === sha256
  const isMade = made.digest() === sha256
  return [
    ...differing.map((text) => `${name}: ${text}`),
    ...others,
    ...(isFrozen ? [] : [`${name}: what is frozen does not have the SHA-256 ${sha256}`]),
    ...(isMade ? [] : [`${name}: the journals do not add up to the SHA-256 ${sha256}`]),
  ]
}
