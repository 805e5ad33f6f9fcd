import {
  type DecidedDeposit,
  type DepositIdentity,
  decide,
  type GroupVerdict,
  type Rules,
} from '../../src/core/decide.ts'
import { linkKeys, type Observation } from '../../src/core/evidence.ts'
import { components } from '../../src/core/matching/components.ts'
import type { Approval } from '../../src/core/matching/divide.ts'
import type { Journal } from '../../src/core/posting.ts'

/** What is decided of all evidence at once: each group alone, in the order of what they tell. */
export function decideAtOnce(
  observations: readonly Observation[],
  approvals: readonly Approval[],
  { rules, now }: { rules: Rules; now: Date },
): GroupVerdict[] {
  return components(observations, linkKeys).map((group) =>
    decide({ observations: group, approvals, deposits: [], journals: [] }, rules, now),
  )
}

type Kept = { keys: ReadonlySet<string>; deposits: DepositIdentity[]; journals: Journal[] }

/** Books as the store keeps them, without a store: evidence comes in batch by batch, and is decided at once. */
export class ModelBooks {
  readonly #approvals: readonly Approval[]
  readonly #rules: Rules
  #observations: Observation[] = []
  #groups: Kept[] = []
  #nextId = 1n
  /** Of opening balances; null while there are none. */
  openedAt: Date | null = null

  constructor(approvals: readonly Approval[], rules: Rules) {
    this.#approvals = approvals
    this.#rules = rules
  }

  get journals(): Journal[] {
    return this.#groups.flatMap(({ journals }) => journals)
  }

  /** Takes a batch in, and decides every group that it bears on. */
  apply(batch: readonly Observation[], now: Date): void {
    this.#observations.push(...batch)
    const touched = new Set(batch.flatMap(linkKeys))
    this.#decide(now, (keys) => [...keys].some((key) => touched.has(key)))
  }

  /** Decides all of it again. */
  settle(now: Date): GroupVerdict[] {
    return this.#decide(now, () => true)
  }

  #decide(now: Date, isWanted: (keys: ReadonlySet<string>) => boolean): GroupVerdict[] {
    const decisions: GroupVerdict[] = []
    for (const observations of components(this.#observations, linkKeys)) {
      const keys = new Set(observations.flatMap(linkKeys))
      if (!isWanted(keys)) continue
      const before = this.#groups.filter((kept) => !kept.keys.isDisjointFrom(keys))
      const known = before
        .flatMap((kept) => kept.deposits)
        .toSorted((left, right) => Number(left.id - right.id))
      const booked = before.flatMap((kept) => kept.journals)
      const { openedAt } = this
      const group = { observations, approvals: this.#approvals, deposits: known, journals: booked, openedAt }
      const decision = decide(group, this.#rules, now)
      decisions.push(decision)
      const others = this.#groups.filter((kept) => !before.includes(kept))
      const kept = decision.deposits.map((deposit) => this.#knownOf(deposit))
      const journals = decision.deposits.flatMap((deposit, place) =>
        deposit.journals.map((one) => ({ ...one, depositId: one.depositId ?? kept[place]?.id ?? null })),
      )
      const all = [...booked, ...journals, ...decision.withdrawalJournals]
      this.#groups = [...others, { keys, deposits: kept, journals: all }]
    }
    return decisions
  }

  #knownOf({ id, evidence, milestones }: DecidedDeposit): DepositIdentity {
    const { serviceId, deposit } = evidence
    return { id: id ?? this.#nextId++, serviceId, transfer: deposit?.ref ?? null, milestones }
  }
}
