import type { CreditObstacle } from '../core/credit-safety.ts'
import type { VerdictReason } from '../core/explaining/verdict-reason.ts'
import type { DepositState } from '../core/judging/reconcile.ts'
import { type AssetLabels, amountsInUnits, amountsNamed } from './mismatch-sentence.ts'
import type { Fact, TableColumn } from './text.ts'

/** Made anew from stored evidence. */
export type Explanation =
  | { at: Date; state: DepositState; reasons: readonly VerdictReason[]; obstacles: readonly CreditObstacle[] }
  | { problem: string }

export function reasonText(reason: VerdictReason, assets: AssetLabels): string {
  const { what, evidence } = reason
  const says = amountsInUnits(reason.says, assets)
  const rows = evidence.length === 0 ? '' : ` [inbox ${evidence.join(', ')}]`
  return `${what}: ${says}${rows}\n    ${decidedBy(reason, assets)}\n`
}

export function reasonDocument(reason: VerdictReason, assets: AssetLabels): object {
  const { says, policy } = reason
  return {
    ...reason,
    says: amountsInUnits(says, assets),
    policy: policy === null ? null : amountsInUnits(policy, assets),
    amounts: amountsNamed(`${says}; ${policy ?? ''}`, assets),
  }
}

export const reasonColumns = (assets: AssetLabels): readonly TableColumn<VerdictReason>[] => [
  { title: 'WHAT', value: ({ what }) => what },
  { title: 'SAYS', value: ({ says }) => amountsInUnits(says, assets) },
  { title: 'DECIDED BY', value: (reason) => decidedBy(reason, assets) },
  { title: 'INBOX', value: ({ evidence }) => evidence.join(', ') },
]

function decidedBy({ rule, policy, until }: VerdictReason, assets: AssetLabels): string {
  const line = policy === null ? null : amountsInUnits(policy, assets)
  const decided = [rule, line, until === null ? null : `until ${until.toISOString()}`]
  return decided.filter((part) => part !== null).join('; ')
}

const obstacleTexts: Readonly<Record<CreditObstacle, string>> = {
  not_final: 'the payment is not final on its chain',
  address: 'the address is not yours, or not valid',
  amounts: 'a claim differs from the payment',
  sources: 'sources that the policy requires do not agree yet',
  stopped: 'it is held, went back or was given up',
  mismatch: 'a severe mismatch',
  not_booked: 'it is not booked for its owner',
}

/** Whether the owner of a deposit may be credited, as recorded. `amount` in units of the asset. */
export type CreditStanding = {
  safe: boolean
  since: Date | null
  reason: string | null
  amount: string | null
  asset_symbol: string | null
  proof: string | null
}

/** With what it waits for if it was never safe. */
export function creditFact({ safe, since, reason, ...credit }: CreditStanding, explained: Explanation): Fact {
  const { amount, asset_symbol: symbol, proof } = credit
  if (since !== null) {
    const state = safe ? `safe: ${amount} ${symbol}, journal ${proof}` : `withdrawn: ${amount} ${symbol}`
    return { name: 'credit', lines: [`${state}, since ${since.toISOString()}`, reason ?? ''] }
  }
  const obstacles = 'problem' in explained ? [] : explained.obstacles
  return { name: 'credit', lines: ['not safe', ...obstacles.map((one) => obstacleTexts[one])] }
}
