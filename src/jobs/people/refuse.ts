import type { Kysely } from 'kysely'
import { Fault } from '../../core/errors.ts'
import type { DecisionContent, Signer } from '../../people/decision.ts'
import { foldDecisions, type PeopleRegister } from '../../people/register.ts'
import type { PersonRole } from '../../people/roles.ts'
import { readDecisions } from '../../store/decisions.ts'
import type { Tables } from '../../store/tables.ts'

type WaitingDecision = { content: DecisionContent; by: string }

export async function waitingDecision(
  deps: { pinned: string | null },
  tx: Kysely<Tables>,
  id: bigint,
): Promise<WaitingDecision> {
  const { content, state, signers } = await refuseInvalid(deps, tx, id)
  const [by] = signers
  if (state !== 'waiting' || content === null || by === undefined)
    throw refused(`decision ${id} is ${state}`, 'see "bin/depositd decisions list"')
  return { content, by }
}

/** @throws Fault `usage_bad` if what the database holds of this decision is not what people signed */
export async function refuseInvalid({ pinned }: { pinned: string | null }, tx: Kysely<Tables>, id: bigint) {
  const [decision] = await readDecisions(tx, { id })
  if (decision === undefined)
    throw new Fault('not_found', {
      problem: `there is no decision ${id}`,
      fix: 'use a number from "bin/depositd decisions list"',
    })
  const about = await readDecisions(tx, { kind: 'person' })
  const { decisions, faults } = foldDecisions(
    decision.kind === 'person' ? about : [...about, decision],
    pinned,
  )
  const fault = faults.find((one) => one.decision === id)
  const checked = decisions.get(id)
  if (fault === undefined && checked !== undefined) return checked
  throw refused(
    `decision ${id} is not valid: ${fault?.problem ?? 'it has no text'}`,
    'see "bin/depositd ledger verify"',
  )
}

/** @throws Fault `usage_bad` unless the key is of a person with this role; without people, of the first administrator */
export function refuseSigner(register: PeopleRegister, { person, key }: Signer, role: PersonRole): void {
  if (register.firstKey === null) {
    if (role === 'administrator') return
    throw refused(
      'there is no administrator yet',
      'add the first one, by their own key: "bin/depositd people add NAME --roles administrator"',
    )
  }
  const known = register.people.get(person.toLowerCase())
  if (known === undefined || !known.keys.includes(key))
    throw refused(
      `the key of ${person} is not in the register of people`,
      `let an administrator add it: "bin/depositd people add ${person} --key ${key} --roles ROLES"`,
    )
  if (!known.roles.includes(role))
    throw refused(
      `${person} is no ${role}, but ${known.roles.join(' and ')}`,
      `let a person with the role ${role} do it`,
    )
}

export function refused(problem: string, fix: string): Fault<'usage_bad'> {
  return new Fault('usage_bad', { problem, fix: `${fix}; nothing was decided` })
}
