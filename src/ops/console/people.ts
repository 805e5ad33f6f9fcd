import type { Owner } from '../../core/evidence.ts'
import type { SavedView } from '../../core/saved-view.ts'
import type { ExportFormatName } from '../../ledger/export/formats.ts'
import type { SignatureName } from '../../outbox/signing-key.ts'
import type { ConsoleRequestContent } from '../../people/console-request.ts'
import type { DecisionContent, Person } from '../../people/decision.ts'
import type { Passkey } from '../../people/passkey.ts'
import type { DecisionState } from '../../people/register.ts'
import { type DecisionKind, type PersonRole, requesters } from '../../people/roles.ts'
import { decisionKindText, type ResolutionLine } from '../../presentation/decision.ts'
import type { TransferLine } from '../../presentation/deposit.ts'
import type { ApiToken, NewApiToken } from '../../store/api-tokens.ts'
import { type EndpointChange } from '../../store/change-endpoints.ts'
import type { DecisionLine } from '../../store/decisions.ts'
import type { AttemptLine } from '../../store/event-deliveries.ts'
import { type EventEndpoint, type WrittenContent } from '../../store/event-endpoints.ts'
import type { UploadedFile } from '../../store/mismatches/attachments.ts'
import type { CaseAction } from '../../store/mismatches/cases.ts'
import type { CaseAct } from '../../store/mismatches/undo.ts'
import type { AuditLine, Invitation, RecordedAct } from '../../store/sessions.ts'
import { refused } from './forms.ts'
import type { ZipWriter } from './zip.ts'

export type ConsoleUser = {
  person: string
  roles: readonly PersonRole[]
  /** All public keys. */
  keys: readonly string[]
  /** Those that sign at this console. */
  passkeys: readonly Passkey[]
  /** Secret of the browser. */
  token: string
  /** In every form, so that no other site can send one. */
  formToken: string
}

/** @throws Fault `request_refused` */
export function signedIn(user: ConsoleUser | null): ConsoleUser {
  if (user === null) throw refused('you are signed out: sign in, and try again', 401)
  return user
}

/** Who may do what changes and signs no books. */
const mayDo = {
  'work on cases': ['operator'],
  'handle webhooks': ['operator', 'administrator'],
  'run the doctor': ['operator', 'administrator'],
  'export the books': ['accountant', 'auditor', 'administrator'],
  'see the audit log': ['auditor', 'administrator'],
  'see the settings': ['auditor', 'administrator'],
  'make tokens': ['administrator'],
  'see event endpoints': ['operator', 'auditor', 'administrator'],
  'change event endpoints': ['administrator'],
} as const satisfies Record<string, readonly PersonRole[]>

type Permission = keyof typeof mayDo

export function may(user: ConsoleUser | null, act: Permission): boolean {
  return mayDo[act].some((role) => user?.roles.includes(role))
}

/** @throws Fault `request_refused` unless the reader is signed in, and may do it */
export function personWho(user: ConsoleUser | null, act: Permission): ConsoleUser {
  const person = signedIn(user)
  if (may(person, act)) return person
  throw refused(`to ${act}, ${person.person} needs the role ${mayDo[act].join(' or ')}`)
}

/** @throws Fault `request_refused` unless the reader may request this decision */
export function requesterOf(user: ConsoleUser | null, kind: DecisionKind): ConsoleUser {
  const person = signedIn(user)
  if (person.roles.includes(requesters[kind])) return person
  throw refused(`to request a ${decisionKindText(kind)}, ${person.person} needs the role ${requesters[kind]}`)
}

export function mayRequest(user: ConsoleUser | null, kind: DecisionKind): user is ConsoleUser {
  return user?.roles.includes(requesters[kind]) ?? false
}

/** `code`: of the passkey, as the person reads it; null until it is made. */
export type ConsoleInvitation = Pick<Invitation, 'person' | 'roles'> & { code: string | null }

export type PersonChange = { action: string; person: string; roles: readonly PersonRole[] }

/** All of the books without a month. */
export type ConsoleExport = { format: ExportFormatName; isValued: boolean; period: string | null }

export type ConsoleJournal = { key: string; place: string; transfers: readonly TransferLine[] }

type DecidedBooks = { journals: readonly ConsoleJournal[]; resolutions: readonly ResolutionLine[] }

export type ConsoleDraft = DecidedBooks & { content: DecisionContent; text: string }

export type ConsoleDecision = DecisionLine &
  DecidedBooks & {
    content: DecisionContent | null
    text: string
    events: readonly {
      action: DecisionState | 'signed'
      person: string
      key: 'passkey' | 'key file' | null
    }[]
  }

export type AttemptFilter = { before?: bigint | undefined; limit: number }

export type ConsoleEndpoint = { endpoint: EventEndpoint; attempts: readonly AttemptLine[] }

export type NewConsoleEndpoint = WrittenContent & { name: string; signature: SignatureName }

export type SecretRotation = { signature: SignatureName; overlapMs: number }

/** What was done, and why the rest was refused. */
export type EachDone<Value> = { done: readonly Value[]; problems: readonly string[] }

/** Each change throws Fault `request_refused` or `usage_bad` if it is refused. */
export type ConsolePeople = {
  /** Address at which passkeys are made and sign. */
  origin: string
  userOf: (token: string) => Promise<ConsoleUser | null>
  startSignIn: () => Promise<{ token: string; challenge: string }>
  /** @returns the token of the session */
  signIn: (token: string, assertion: string) => Promise<string>
  /** @returns the token of the session; null if the link was used or has ended */
  signInByLink: (link: string) => Promise<string | null>
  /** Null if people sign in with passkeys alone. */
  openId: {
    name: string
    start: () => Promise<{ token: string; redirect: string }>
    finish: (token: string, search: URLSearchParams) => Promise<string>
  } | null
  signOut: (token: string) => Promise<void>
  /** Short enough to compare by eye. */
  codeOfDevice: (device: string) => string
  /** Signs a command line in as the person of this token. */
  grantDevice: (device: string, token: string) => Promise<void>
  /** `first` is what the first administrator signs to enter themselves. */
  invitation: (link: string) => Promise<(Invitation & { code: string | null; first: string | null }) | null>
  /** Enters the first administrator. @returns the public key with which the register begins */
  enter: (link: string, text: string, assertion: string) => Promise<string>
  takePasskey: (link: string, registration: string) => Promise<void>
  decisions: (wish: {
    state: DecisionState | null
    before: bigint | null
    limit: number
  }) => Promise<DecisionLine[]>
  decision: (id: bigint) => Promise<ConsoleDecision | null>
  policyOfSettings: () => ConsoleRequestContent
  /** @param written as a journal file says it. @throws Fault `usage_bad` that lists every problem */
  journalOf: (written: object) => ConsoleRequestContent
  /** @param file of owners. @throws Fault `settings_bad` that names every line, `usage_bad` if nothing is new */
  additionOf: (kind: Owner['kind'], file: UploadedFile) => Promise<ConsoleRequestContent>
  /** What the person would sign now. */
  draft: (user: ConsoleUser, requests: readonly ConsoleRequestContent[]) => Promise<EachDone<ConsoleDraft>>
  /** By one confirmation of all texts, in this order. @returns the numbers of the decisions */
  request: (user: ConsoleUser, texts: readonly string[], assertion: string) => Promise<EachDone<bigint>>
  /** Those of others, the oldest first. */
  waiting: (user: ConsoleUser, limit: number) => Promise<readonly ConsoleDecision[]>
  /** By one confirmation of all their texts, in this order. */
  approve: (user: ConsoleUser, ids: readonly bigint[], assertion: string) => Promise<EachDone<bigint>>
  reject: (user: ConsoleUser, id: bigint, reason: string) => Promise<void>
  /** Those who may decide now. */
  everyone: () => Promise<readonly Person[]>
  /** Open ones. */
  invitations: () => Promise<readonly ConsoleInvitation[]>
  /** @returns the link */
  invite: (user: ConsoleUser, invited: Pick<Person, 'person' | 'roles'>) => Promise<string>
  /** @throws Fault `usage_bad` if there is no such person or passkey */
  personOf: (change: PersonChange) => Promise<ConsoleRequestContent>
  tokens: (limit: number) => Promise<readonly ApiToken[]>
  /** @returns the token. @throws Fault `usage_bad` if the name is used or odd */
  makeToken: (user: ConsoleUser, token: Omit<NewApiToken, 'by'>) => Promise<string>
  /** @returns false if no active token has this name */
  revokeToken: (user: ConsoleUser, name: string) => Promise<boolean>
  endpoints: (limit: number) => Promise<readonly EventEndpoint[]>
  /** With its attempts, the newest first. */
  endpoint: (name: string, wish: AttemptFilter) => Promise<ConsoleEndpoint | null>
  /** @returns what the receiver verifies with. @throws Fault `usage_bad` that names the value */
  makeEndpoint: (user: ConsoleUser, made: NewConsoleEndpoint) => Promise<string>
  changeEndpoint: (user: ConsoleUser, name: string, change: EndpointChange) => Promise<void>
  /** @returns what the receiver verifies with from now on */
  rotateSecret: (user: ConsoleUser, name: string, rotation: SecretRotation) => Promise<string>
  /** Its log has the answer. */
  testEndpoint: (user: ConsoleUser, name: string) => Promise<void>
  /** The newest of what people did. */
  log: (user: ConsoleUser, limit: number) => Promise<readonly AuditLine[]>
  /** In the audit log, before the data leaves. */
  recordAct: (user: ConsoleUser, taken: RecordedAct) => Promise<void>
  /** Also recorded. One export at a time. @throws Fault `request_refused` if another one runs */
  exportBooks: (user: ConsoleUser, wish: ConsoleExport, archive: ZipWriter) => Promise<void>
  /** Verifies all webhooks in quarantine again, and accepts the genuine ones. */
  retryQuarantine: (user: ConsoleUser) => Promise<readonly { outcome: string }[]>
  /** @returns false if it is no longer there */
  dropQuarantined: (user: ConsoleUser, id: bigint, reason: string) => Promise<boolean>
  /** @throws Fault `usage_bad` if the name is taken */
  saveView: (view: SavedView) => Promise<void>
  removeView: (view: Pick<SavedView, 'page' | 'name'>) => Promise<void>
  /** @returns the number of the first event */
  workOnCases: (user: ConsoleUser, ids: readonly bigint[], act: CaseAction) => Promise<bigint>
  attach: (user: ConsoleUser, mismatch: bigint, file: UploadedFile) => Promise<void>
  /** Enters it in the audit log. */
  takeAttachment: (user: ConsoleUser, id: bigint) => Promise<UploadedFile | null>
  undoWork: (user: ConsoleUser, event: bigint) => Promise<CaseAct & { undo: bigint }>
}

export function namesOf(people: readonly Pick<Person, 'person'>[]): string[] {
  return people.map(({ person }) => person)
}
