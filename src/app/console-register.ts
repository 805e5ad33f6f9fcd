import { Fault } from '../core/errors.ts'
import { readRegister } from '../jobs/people/decide.ts'
import { codeOf, invite } from '../jobs/people/sign-in.ts'
import type { ConsolePeople, PersonChange } from '../ops/console/people.ts'
import type { Person } from '../people/decision.ts'
import { createApiToken, listApiTokens, revokeApiToken, tokenNameForm } from '../store/api-tokens.ts'
import { type Database, inTransaction } from '../store/database.ts'
import { listInvitations, readInvitation } from '../store/sessions.ts'
import type { Tables } from '../store/tables.ts'
import type { ConsoleDecisionDeps, DatabaseReading } from './console-sign-in.ts'

/** What administrators do with the register of people. */
export function registerPart(
  { db, pinned, check, origin }: ConsoleDecisionDeps & { origin: string },
  reading: DatabaseReading,
): Pick<ConsolePeople, 'invitations' | 'invite' | 'personOf'> {
  return {
    async invitations() {
      const open = await reading(listInvitations(db))
      return open.map(({ person, roles, passkey }) => ({ person, roles, code: passkey && codeOf(passkey) }))
    },
    async invite({ person: by }, invited) {
      await check()
      return `${origin}/invitations/${await reading(invite(db, { ...invited, by }))}`
    },
    async personOf(change) {
      const { people } = await reading(readRegister(db, pinned))
      const known = people.get(change.person.toLowerCase())
      const entry =
        change.action === 'confirm' ? await confirmed(change.person, known) : entryOf(change, known)
      return { kind: 'person', change: entry }
    },
  }

  async function confirmed(person: string, known: Person | undefined) {
    const invited = await reading(readInvitation(db, { person }))
    if (invited?.passkey == null) throw refused(`${person} has made no passkey`, 'wait for their code')
    const keys = (known?.keys ?? []).filter((key) => key !== invited.passkey)
    return { person: invited.person, roles: [...invited.roles], keys: [...keys, invited.passkey] }
  }
}

/** Without roles, the person is removed. */
function entryOf({ action, person, roles }: PersonChange, known: Person | undefined) {
  if (known === undefined) throw refused(`${person} is not in the register`, 'choose a person')
  if (action === 'remove') return { person: known.person, roles: [], keys: [] }
  if (roles.length === 0) throw refused('no role is chosen', 'choose one, or remove the person')
  return { person: known.person, roles: [...roles], keys: [...known.keys] }
}

export function tokensPart(
  db: Database<Tables>,
  reading: DatabaseReading,
): Pick<ConsolePeople, 'tokens' | 'makeToken' | 'revokeToken'> {
  return {
    tokens: (limit) => reading(listApiTokens(db, { limit })),
    async makeToken({ person: by }, token) {
      if (!tokenNameForm.test(token.name))
        throw refused(
          `${token.name} is no name of a token`,
          'use lower-case letters, digits, ".", "_" and "-"',
        )
      return (await reading(inTransaction(db, (tx) => createApiToken(tx, { ...token, by })))).token
    },
    revokeToken: async ({ person: by }, name) =>
      (await reading(inTransaction(db, (tx) => revokeApiToken(tx, { name, by })))) !== null,
  }
}

function refused(problem: string, fix: string): Fault<'usage_bad'> {
  return new Fault('usage_bad', { problem, fix: `${fix}; nothing was decided` })
}
