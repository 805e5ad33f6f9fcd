import { originOfConsole } from '../config/environment-settings.ts'
import type { Settings } from '../config/settings.ts'
import { Fault, isFault } from '../core/errors.ts'
import {
  approveDecision,
  type DecisionDeps,
  draftDecision,
  readRegister,
  rejectDecision,
  submitDecision,
} from '../jobs/people/decide.ts'
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
import type { ConsolePeople, ConsoleUser, EachDone } from '../ops/console/people.ts'
import { readConsoleRequest } from '../people/console-request.ts'
import {
  type DecisionContent,
  type JsonValue,
  readDecision,
  type Signer,
  writeDecision,
} from '../people/decision.ts'
import { isTextSigned, signatureOfAll, writePasskey } from '../people/passkey.ts'
import { type Database, inTransaction, openDatabase } from '../store/database.ts'
import { mayDecide, readDecisions } from '../store/decisions.ts'
import { workOnCases } from '../store/mismatches/cases.ts'
import { deleteInvitation, type Invitation, listAudit, recordAccess } from '../store/sessions.ts'
import type { Tables } from '../store/tables.ts'
import { booksOf, readingPart } from './console-decisions.ts'
import { createExporter } from './console-downloads.ts'
import { retryAtOnce } from './retry.ts'
import { decisionProcedures } from './rules.ts'
import type { Services } from './services.ts'

export type ConsolePeopleDeps = {
  services: Pick<Services, 'followed'>
  opsUrl: string
  /** @throws Fault `remote_failed` on any error of the database */
  reading: <Value>(work: Promise<Value>) => Promise<Value>
}

const [signInMaxMs, decisionMaxMs] = [10_000, 60_000]

const poolMax = 2

const now = () => new Date()

export function composePeople(
  settings: Settings,
  { services, opsUrl, reading }: ConsolePeopleDeps,
): ConsolePeople & AsyncDisposable {
  const { db, decider } = openLogins(settings)
  const { administratorKey: pinned, databaseUrl } = settings.people
  const deps = { db, pinned, origin: originOfConsole(settings.links, Number(new URL(opsUrl).port)) }
  const current = () => ({ ...settings, ...services.followed() })
  const procedures = decisionProcedures({ settings: current, pinned, now })
  const check = async () => {
    // A login without the role cannot even connect with it.
    if (databaseUrl === null) await reading(refuseUnlessDecider(db))
  }
  // Each needs a second connection of the pool.
  const retry = oneAtATime(() => retryAtOnce(db, current(), { ids: null }))
  const deciding = { db: decider, procedures, pinned, now, check }
  return {
    ...signInPart(deps, reading),
    openId: openIdPart(settings, deps),
    ...readingPart(db, reading),
    ...invitingPart(deps, deciding, reading),
    ...decidingPart(deciding, reading),
    async everyone() {
      return [...(await reading(readRegister(db, pinned))).people.values()]
    },
    log: (limit) => reading(listAudit(db, { person: null, action: null, after: null, limit })),
    recordTaken: ({ person }, taken) => reading(recordAccess(db, { ...taken, person })),
    exportBooks: createExporter(settings),
    retryQuarantine: () => reading(retry()),
    workOnCases: (user, ids, act) =>
      reading(inTransaction(db, (tx) => workOnCases(tx, ids, { ...act, actor: user.person }))),
    [Symbol.asyncDispose]: async () => void (await Promise.all([db.destroy(), decider.destroy()])),
  }
}

/** For all who ask while it runs. */
export function oneAtATime<Value>(work: () => Promise<Value>): () => Promise<Value> {
  let running: Promise<Value> | null = null
  return () => {
    running ??= work().finally(() => {
      running = null
    })
    return running
  }
}

/** `check` throws Fault `request_refused` if the console has no login that writes decisions. */
type ConsoleDecisionDeps = DecisionDeps & { db: Database<Tables>; check: () => Promise<void> }

/** Decisions are written by a login of their own, once a signature is valid. */
function decidingPart(
  deps: ConsoleDecisionDeps,
  reading: ConsolePeopleDeps['reading'],
): Pick<ConsolePeople, 'draft' | 'request' | 'approve' | 'reject'> {
  const { db, check } = deps
  const asDecider = async <Value>(work: () => Promise<Value>): Promise<Value> => {
    await check()
    return work()
  }
  return {
    draft: (user, requests) =>
      asDecider(() =>
        each(requests, async (request) => {
          const content = await draftDecision(deps, request, personOf(user))
          return { content, text: writeDecision(content), ...(await reading(booksOf(db, content))) }
        }),
      ),
    request(user, texts, assertion) {
      const contents = texts.map(requestedContent)
      const signer = signerOf(user, texts, assertion)
      return asDecider(() =>
        each(contents, async (content) => (await submitDecision(deps, content, signer)).id),
      )
    },
    approve: (user, ids, assertion) =>
      asDecider(async () => {
        const stored = await reading(Promise.all(ids.map((id) => readDecisions(db, { id }))))
        const texts = stored.flat().map(({ text }) => text)
        const signer = signerOf(user, texts, assertion)
        return each(ids, async (id) => (await approveDecision(deps, id, signer)).id)
      }),
    reject: (user, id, reason) => asDecider(() => rejectDecision(deps, { id, reason }, personOf(user))),
  }
}

function requestedContent(text: string): DecisionContent {
  const content = readDecision(text)
  if (content !== null && readConsoleRequest(content) !== null) return content
  throw refused('this is no decision that the console requests')
}

function openLogins({ databaseUrl, people }: Settings) {
  return {
    db: openDatabase<Tables>({
      url: databaseUrl,
      poolMax,
      applicationName: 'depositd sign-in',
      role: 'depositd_daemon',
      queryTimeoutMs: signInMaxMs,
    }),
    decider: openDatabase<Tables>({
      url: people.databaseUrl ?? databaseUrl,
      poolMax,
      applicationName: 'depositd decisions',
      role: 'depositd_decider',
      queryTimeoutMs: decisionMaxMs,
    }),
  }
}

function openIdPart({ openId, people }: Settings, deps: SignInDeps): ConsolePeople['openId'] {
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

function signInPart(deps: SignInDeps, reading: ConsolePeopleDeps['reading']): SignInPart {
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
function invitingPart(
  deps: SignInDeps,
  deciding: ConsoleDecisionDeps,
  reading: ConsolePeopleDeps['reading'],
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
      if (found === null || content?.kind !== 'person') throw refused('the invitation has ended')
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

async function refuseUnlessDecider(db: Database<Tables>): Promise<void> {
  if (await mayDecide(db)) return
  throw refused('the console has no login that writes decisions: set DECISIONS_DATABASE_URL for the daemon')
}

/** One after the other. What refuses one does not keep the others. */
async function each<Item, Value>(
  items: readonly Item[],
  work: (item: Item) => Promise<Value>,
): Promise<EachDone<Value>> {
  const [done, problems]: [Value[], string[]] = [[], []]
  for (const item of items) {
    try {
      done.push(await work(item))
    } catch (error) {
      const problem = problemOf(error)
      if (problem === null || items.length === 1) throw error
      problems.push(problem)
    }
  }
  return { done, problems }
}

function problemOf(error: unknown): string | null {
  const isRefusal =
    isFault(error, 'usage_bad') || isFault(error, 'not_found') || isFault(error, 'request_refused')
  return isRefusal ? error.details.problem : null
}

/** The passkey has signed already; a text that is another than the ones shown is refused. */
function signerOf({ person, passkeys }: ConsoleUser, texts: readonly string[], assertion: string): Signer {
  const passkey = passkeys.find(({ credential }) => assertion.includes(JSON.stringify(credential)))
  if (passkey === undefined) throw refused(`${person} has no such passkey at this address`)
  const signature = signatureOfAll(texts, assertion)
  return {
    person,
    key: writePasskey(passkey),
    sign(text) {
      if (isTextSigned(text, signature, passkey)) return signature
      throw refused('the signature is not of this text: look at the decision again')
    },
  }
}

/** Signs nothing. */
function personOf({ person, keys }: ConsoleUser): Signer {
  return { person, key: keys[0] ?? '', sign: () => '' }
}

function refused(problem: string): Fault<'request_refused'> {
  return new Fault('request_refused', { status: 403, reason: 'decision_refused', problem })
}
