import type { CreditObstacle } from '../core/credit-safety.ts'
import type { VerdictReason } from '../core/explaining/verdict-reason.ts'
import type { DepositState } from '../core/judging/reconcile.ts'
import { type AssetLabels, amountsInUnits, amountsNamed } from './mismatch-sentence.ts'
import type { TableColumn } from './text.ts'

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
