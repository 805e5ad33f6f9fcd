import type { Kysely } from 'kysely'
import { policyName, type TransferDecision, transferRef } from '../../core/evidence.ts'
import { type Proposal, type ProposalRules, propose } from '../../core/matching/propose.ts'
import { findPairs } from '../../store/books/find-pairs.ts'
import { lockGroups } from '../../store/books/groups.ts'
import {
  syncAmbiguities,
  syncProposals,
  unnamedTransfers,
  withdrawNamed,
} from '../../store/books/proposals.ts'
import { recordRulings } from '../../store/books/rulings.ts'
import { inTransaction } from '../../store/database.ts'
import type { MismatchChange } from '../../store/mismatches/mismatches.ts'
import type { Tables } from '../../store/tables.ts'

export type ProposeDeps = { db: Kysely<Tables>; rules: ProposalRules; now: () => Date }

export type ProposedPage = {
  /** Where the next page begins; null after the last one. */
  next: bigint | null
  /** How many the policy agreed to in this page: their rulings wait to be applied. */
  agreed: number
  mismatches: readonly MismatchChange[]
}

const pageSize = 200

/**
 * Looks for deposits that fit a page of transfers which nothing names: what fits nothing else is proposed, the rest is
 * ambiguous, and what the policy agrees to becomes a ruling. A few statements, whatever the page holds.
 * @param after where the page before ended; 0 begins anew.
 */
export function proposeMatches({ db, rules, now }: ProposeDeps, after = 0n): Promise<ProposedPage> {
  return inTransaction(db, async (tx) => {
    const cleared = await withdrawNamed(tx)
    const page = await unnamedTransfers(tx, { after, countMax: pageSize })
    if (page.length === 0) return { next: null, agreed: 0, mismatches: cleared }
    const near = await findPairs(tx, { mismatchIds: page.map(({ mismatchId }) => mismatchId) })
    // What is agreed to must still be open when it is written down: whoever applies evidence has the same lock.
    const locked = new Set(near.flatMap(({ groups }) => groups))
    await lockGroups(tx, [...locked])
    const pairs = await findPairs(tx, { serviceIds: near.map(({ deposit }) => deposit.serviceId) })
    const ids = new Set(page.map(({ role, transfer }) => `${role} ${transfer}`))
    const isInPage = ({ transfer }: Pick<Proposal, 'transfer'>) =>
      ids.has(`${transfer.role} ${transferRef(transfer)}`)
    const found = propose(pairs, rules)
    const proposals = found.proposals.filter(isInPage)
    await syncProposals(tx, page, proposals)
    const depositOf = new Map(pairs.map(({ transfer, depositId }) => [transferRef(transfer), depositId]))
    const ambiguities = found.ambiguities.filter(isInPage).map((one) => ({
      ...one,
      depositId: depositOf.get(transferRef(one.transfer)) ?? null,
    }))
    const changes = await syncAmbiguities(tx, page, ambiguities)
    const isLocked = new Set(
      pairs
        .filter(({ groups }) => groups.every((id) => locked.has(id)))
        .map(({ deposit }) => deposit.serviceId),
    )
    const agreed = proposals.filter(({ isAgreed, deposit }) => isAgreed && isLocked.has(deposit.serviceId))
    const ruled = await recordRulings(
      tx,
      agreed.map((one) => rulingOf(one, now())),
    )
    const next = page.length < pageSize ? null : (page.at(-1)?.mismatchId ?? null)
    return { next, agreed: ruled.length, mismatches: [...cleared, ...changes] }
  })
}

function rulingOf({ transfer, deposit, policy, reasons }: Proposal, now: Date): TransferDecision {
  const { role, network, tx, index, to } = transfer
  return {
    kind: 'ruling',
    id: `policy/together/${role}/${deposit.serviceId}/${transferRef(transfer)}`,
    role,
    network,
    tx,
    index,
    to,
    verdict: { kind: 'together', serviceId: deposit.serviceId },
    by: policyName,
    approvedBy: null,
    reason: `${policy}: ${reasons.map(({ rule, compares }) => `${rule} ${compares}`).join('; ')}`,
    receivedAt: now,
  }
}
