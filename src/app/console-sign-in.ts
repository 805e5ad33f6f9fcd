import type { Settings } from '../config/settings.ts'
import { Fault } from '../core/errors.ts'
import { type DecisionDeps, draftDecision, readRegister, submitDecision } from '../jobs/people/decide.ts'
import { createOpenId } from '../jobs/people/open-id.ts'
import {
  codeOf,
  grantDevice,
  invitationOf,
  passkeysOf,
  type SignInDeps,
  signedIn,
  signIn,
  signInByLink,
  signOut,
  startSignIn,
  takePasskey,
} from '../jobs/people/sign-in.ts'
import { formTokenOf } from '../ops/console/forms.ts'
import type { ConsolePeople } from '../ops/console/people.ts'
import { type JsonValue, readDecision, type Signer, writeDecision } from '../people/decision.ts'
import type { Database } from '../store/database.ts'
import { deleteInvitation, type Invitation } from '../store/sessions.ts'
import type { Tables } from '../store/tables.ts'

/** @throws Fault `remote_failed` on any error of the database */
export type DatabaseReading = <Value>(work: Promise<Value>) => Promise<Value>

/** `check` throws Fault `request_refused` if the console has no login that writes decisions. */
export type ConsoleDecisionDeps = DecisionDeps & { db: Database<Tables>; check: () => Promise<void> }

export function openIdPart({ openId, people }: Settings, deps: SignInDeps): ConsolePeople['openId'] {
  if (openId === null) return null
  const provider = { ...openId, clientSecret: people.openIdSecret }
  return { name: new URL(openId.issuer).host, ...createOpenId(deps, provider) }
}

type SignInPart = Pick<
  ConsolePeople,
  | 'origin'
  | 'userOf'
  | 'startSignIn'
  | 'signIn'
  | 'signInByLink'
  | 'signOut'
  | 'codeOfDevice'
  | 'grantDevice'
  | 'takePasskey'
>

export function signInPart(deps: SignInDeps, reading: DatabaseReading): SignInPart {
  return {
    origin: deps.origin,
    async userOf(token) {
      const person = await reading(signedIn(deps, token))
      return person && { ...person, passkeys: passkeysOf(deps, person), formToken: formTokenOf(token) }
    },
    startSignIn: () => reading(startSignIn(deps)),
    signIn: async (token, assertion) => (await reading(signIn(deps, token, assertion))).token,
    signInByLink: async (link) => (await reading(signInByLink(deps, link)))?.token ?? null,
    signOut: (token) => reading(signOut(deps, token)),
    codeOfDevice: codeOf,
    grantDevice: (device, token) => reading(grantDevice(deps, device, token)),
    takePasskey: async (link, registration) => void (await reading(takePasskey(deps, link, registration))),
  }
}

/** The first administrator enters the register by their own passkey; others by a decision of an administrator. */
export function invitingPart(
  deps: SignInDeps,
  deciding: ConsoleDecisionDeps,
  reading: DatabaseReading,
): Pick<ConsolePeople, 'invitation' | 'enter'> {
  return {
    async invitation(link) {
      const found = await reading(invitationOf(deps, link))
      if (found?.passkey == null) return found && { ...found, code: null, first: null }
      const isFirst = (await reading(readRegister(deps.db, deps.pinned))).firstKey === null
      if (isFirst) await deciding.check()
      const entry = isFirst ? await draftDecision(deciding, entryOf(found), ownSigner(found)) : null
      return { ...found, code: codeOf(found.passkey), first: entry && writeDecision(entry) }
    },
    async enter(link, text, assertion) {
      const found = await reading(invitationOf(deps, link))
      const content = readDecision(text)
      if (found === null || content?.kind !== 'person')
        throw new Fault('request_refused', {
          status: 403,
          reason: 'decision_refused',
          problem: 'the invitation has ended',
        })
      const signer = { ...ownSigner(found), sign: () => assertion }
      await submitDecision(deciding, { ...content, ...entryOf(found) }, signer)
      await deleteInvitation(deciding.db, found.person)
      return signer.key
    },
  }
}

function entryOf({ person, roles, passkey }: Invitation) {
  const keys = passkey === null ? [] : [passkey]
  const change: JsonValue = { person, roles: [...roles], keys }
  return { kind: 'person' as const, change }
}

function ownSigner({ person, passkey }: Invitation): Signer {
  return { person, key: passkey ?? '', sign: () => '' }
}
