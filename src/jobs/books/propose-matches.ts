import type { Kysely } from 'kysely'
import { policyName, type TransferDecision, transferRef } from '../../core/evidence.ts'
import { type Proposal, type ProposalRules, propose } from '../../core/matching/propose.ts'
import { findPairs } from '../../store/books/find-pairs.ts'
import { lockGroups } from '../../store/books/groups.ts'
import {
  recordDecisions,
  syncAmbiguities,
  syncProposals,
  unnamedTransfers,
  withdrawNamed,
} from '../../store/books/proposals.ts'
import { inTransaction } from '../../store/database.ts'
import type { MismatchChange } from '../../store/mismatches/mismatches.ts'
import type { Tables } from '../../store/tables.ts'
import { holdRules } from './activate-rules.ts'

export type ProposeDeps = { db: Kysely<Tables>; rules: ProposalRules; now: () => Date }

export type ProposedPage = {
  next: bigint | null
  /** Their decisions wait in the inbox. */
  agreed: number
  mismatches: readonly MismatchChange[]
}

const pageSize = 200

/**
 * Handles transfers that no claim names: a unique match becomes a proposal, or a decision if the policy approves;
 * several become an ambiguity. The number of statements does not depend on the page.
 * @param after end of the previous page; 0 starts over
 */
export function proposeMatches({ db, rules, now }: ProposeDeps, after = 0n): Promise<ProposedPage> {
  return inTransaction(db, async (tx) => {
    const cleared = await withdrawNamed(tx)
    const page = await unnamedTransfers(tx, { after, countMax: pageSize })
    if (page.length === 0) return { next: null, agreed: 0, mismatches: cleared }
    const near = await findPairs(tx, { mismatchIds: page.map(({ mismatchId }) => mismatchId) })
    // An approved match must still be open. Workers that apply evidence take the same lock.
    const locked = new Set(near.flatMap(({ groups }) => groups))
    await lockGroups(tx, [...locked])
    const pairs = await findPairs(tx, { serviceIds: near.map(({ deposit }) => deposit.serviceId) })
    const ids = new Set(page.map(({ role, transfer }) => `${role} ${transfer}`))
    const isInPage = ({ transfer }: Pick<Proposal, 'transfer'>) =>
      ids.has(`${transfer.role} ${transferRef(transfer)}`)
    const found = propose(pairs, await holdRules(tx, rules))
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
    const ruled = await recordDecisions(
      tx,
      agreed.map((one) => decisionOf(one, now())),
    )
    const next = page.length < pageSize ? null : (page.at(-1)?.mismatchId ?? null)
    return { next, agreed: ruled.length, mismatches: [...cleared, ...changes] }
  })
}

type DecidedTransfer = Pick<TransferDecision, 'role' | 'network' | 'tx' | 'index' | 'to'>

export function decisionOn(
  { role, network, tx, index, to }: DecidedTransfer,
  decided: Omit<TransferDecision, keyof DecidedTransfer | 'kind'>,
): TransferDecision {
  return { kind: 'decision', role, network, tx, index, to, ...decided }
}

function decisionOf({ transfer, deposit, policy, reasons }: Proposal, now: Date): TransferDecision {
  return decisionOn(transfer, {
    id: `policy/together/${transfer.role}/${deposit.serviceId}/${transferRef(transfer)}`,
    verdict: { kind: 'together', serviceId: deposit.serviceId },
    by: policyName,
    approvedBy: null,
    reason: `${policy}: ${reasons.map(({ rule, compares }) => `${rule} ${compares}`).join('; ')}`,
    receivedAt: now,
  })
}
