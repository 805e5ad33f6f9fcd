import { sql } from 'kysely'
import type { Rules } from '../../src/core/decide.ts'
import type {
  Claim,
  Observation,
  ObservedChainTransfer,
  ServiceId,
  TransferDecision,
} from '../../src/core/evidence.ts'
import { type ProposedPage, proposeMatches } from '../../src/jobs/books/propose-matches.ts'
import { recordDecisions } from '../../src/store/books/proposals.ts'
import { inTransaction } from '../../src/store/database.ts'
import { type Books, late, openBooks } from './books.ts'
import { claim, delivery, payment, txId } from './evidence.ts'

type Changes = Parameters<typeof claim>[0]

export const noKey = { tx: null, index: null }
export const two = 'dep_2' as ServiceId
export const again = txId('again')

/** What the service tells without naming the payment. */
export function unkeyed({ deposit, ...changes }: NonNullable<Changes> = {}): Claim {
  return claim({
    deposit: { ...noKey, ...deposit },
    settlement: { tx: null },
    status: 'confirmed',
    ...changes,
  })
}

/** What it tells of a payment by its key, without naming the delivery. */
export function undelivered(changes: Changes = {}): Claim {
  return claim({ settlement: { tx: null }, status: 'settling', ...changes })
}

/** How the pairs of the made-up world are shown by `states`. */
export const paid = `dep_1 deposit ${payment().tx}`
export const delivered = `dep_1 recipient ${delivery().tx}`

export type Proposing = Books & {
  /** Stores and applies evidence. */
  hold: (...evidence: Observation[]) => Promise<void>
  /** Proposes, and applies what is agreed to. */
  run: (rules?: Rules) => Promise<ProposedPage>
  /** The state of each proposal, by service id, role and transaction. */
  states: () => Promise<Record<string, string>>
  /** The kinds of the open mismatches. */
  open: () => Promise<string[]>
  deposits: () => Promise<{ state: string; service_id: string | null; transfer: string | null }[]>
  /** A person decides about `dep_1`, and it is applied. */
  decide: (kind: 'together' | 'apart', about: ObservedChainTransfer) => Promise<void>
  /** A person, or who else is named, decides about `dep_1`, and it waits to be applied. */
  rule: (
    kind: 'together' | 'apart',
    about: ObservedChainTransfer,
    changes?: Partial<TransferDecision>,
  ) => Promise<void>
}

export async function openProposing(): Promise<Proposing> {
  const books = await openBooks()
  const { db, deps } = books
  const rule: Proposing['rule'] = async (kind, about, changes) => {
    await inTransaction(books.owner, (tx) =>
      recordDecisions(tx, [{ ...decisionOf(kind, about), ...changes }]),
    )
  }
  return {
    ...books,
    async hold(...evidence) {
      await books.receive(...evidence)
      await books.settle()
    },
    async run(rules = deps.rules) {
      const page = await proposeMatches({ ...deps, rules })
      await books.settle()
      return page
    },
    async states() {
      const { rows } = await sql<{ pair: string; state: string }>`
        select concat_ws(' ', service_id, role, split_part(transfer, '/', 2)) as pair, state from proposal
        order by 1`.execute(db)
      return Object.fromEntries(rows.map(({ pair, state }) => [pair, state]))
    },
    async open() {
      const { rows } = await sql<{ kind: string }>`
        select kind from mismatch where cleared_at is null order by 1`.execute(db)
      return rows.map(({ kind }) => kind)
    },
    async deposits() {
      const { rows } = await sql<{ state: string; service_id: string | null; transfer: string | null }>`
        select state, service_id, transfer from deposit where merged_into is null order by id`.execute(db)
      return rows
    },
    async decide(kind, about) {
      await rule(kind, about)
      await books.settle()
    },
    rule,
  }
}

function decisionOf(
  kind: 'together' | 'apart',
  { role, network, tx, index, to }: ObservedChainTransfer,
): TransferDecision {
  return {
    kind: 'decision',
    id: `${kind} ${role}`,
    role,
    network,
    tx,
    index,
    to,
    verdict: { kind, serviceId: 'dep_1' as ServiceId },
    by: 'anna',
    approvedBy: null,
    reason: 'the payer showed it',
    receivedAt: late,
  }
}
