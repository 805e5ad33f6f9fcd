import type { Settings } from '../config/settings.ts'
import { Fault } from '../core/errors.ts'
import { changeEndpoint, makeEndpoint, rotateSecret, testEndpoint } from '../jobs/events/endpoints.ts'
import { readRegister } from '../jobs/people/decide.ts'
import { codeOf, invite } from '../jobs/people/sign-in.ts'
import type { ConsolePeople, PersonChange } from '../ops/console/people.ts'
import type { Person } from '../people/decision.ts'
import { createApiToken, listApiTokens, revokeApiToken, tokenNameForm } from '../store/api-tokens.ts'
import { type Database, inTransaction } from '../store/database.ts'
import { listAttempts } from '../store/event-deliveries.ts'
import { findEndpoint, listEventEndpoints } from '../store/event-endpoints.ts'
import { listInvitations, readInvitation } from '../store/sessions.ts'
import type { Tables } from '../store/tables.ts'
import type { ConsoleDecisionDeps, DatabaseReading } from './console-sign-in.ts'
import { eventsVault } from './events.ts'

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

export function endpointsPart(
  db: Database<Tables>,
  current: () => Pick<Settings, 'services' | 'eventsKey' | 'events'>,
  reading: DatabaseReading,
): Pick<
  ConsolePeople,
  'endpoints' | 'endpoint' | 'makeEndpoint' | 'changeEndpoint' | 'rotateSecret' | 'testEndpoint'
> {
  const deps = () => {
    const { services, events, ...key } = current()
    const names = services.map(({ name }) => name)
    return { db, vault: eventsVault(key), services: names, allowPrivate: events.allowPrivate }
  }
  return {
    endpoints: (limit) => reading(listEventEndpoints(db, { limit })),
    async endpoint(name, wish) {
      const endpoint = await reading(findEndpoint(db, name))
      return endpoint && { endpoint, attempts: await reading(listAttempts(db, endpoint.id, wish)) }
    },
    makeEndpoint: async ({ person: by }, made) =>
      (await reading(makeEndpoint(deps(), { ...made, by }))).verifyWith,
    changeEndpoint: async ({ person: by }, name, change) =>
      void (await reading(changeEndpoint(deps(), { name, by }, change))),
    rotateSecret: async ({ person: by }, name, rotation) =>
      (await reading(rotateSecret(deps(), { name, by }, rotation))).verifyWith,
    // The answer may take longer than a page is read.
    testEndpoint: async ({ person: by }, name) => void (await testEndpoint(deps(), { name, by })),
  }
}

function refused(problem: string, fix: string): Fault<'usage_bad'> {
  return new Fault('usage_bad', { problem, fix: `${fix}; nothing was decided` })
}
