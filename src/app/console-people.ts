import { extname } from 'node:path'
import type { Transaction } from 'kysely'
import { originOfConsole } from '../config/environment-settings.ts'
import { parseJournalFile } from '../config/journal-file.ts'
import type { Settings } from '../config/settings.ts'
import { Fault, isFault } from '../core/errors.ts'
import { ruleSetOf } from '../core/rule-set.ts'
import { checkImport, refuseImport } from '../jobs/import-owners.ts'
import { additionOf } from '../jobs/people/address-procedures.ts'
import {
  approveDecision,
  draftDecision,
  readRegister,
  rejectDecision,
  submitDecision,
} from '../jobs/people/decide.ts'
import { policyChangeOf } from '../jobs/people/policy-procedure.ts'
import type { ConsolePeople, ConsoleUser, EachDone } from '../ops/console/people.ts'
import { readConsoleRequest } from '../people/console-request.ts'
import {
  type DecisionContent,
  type JsonValue,
  type Person,
  readDecision,
  type Signer,
  writeDecision,
} from '../people/decision.ts'
import { isTextSigned, signatureOfAll, writePasskey } from '../people/passkey.ts'
import { dropText, retrySentences } from '../presentation/lists.ts'
import { readOwnersFile } from '../provider/owners-file.ts'
import { type Database, inTransaction } from '../store/database.ts'
import { mayDecide, readDecisions } from '../store/decisions.ts'
import { dropQuarantined } from '../store/quarantine.ts'
import { removeView, saveView } from '../store/saved-views.ts'
import { deleteInvitation, listAudit, type RecordedAct, recordAccess } from '../store/sessions.ts'
import type { Tables } from '../store/tables.ts'
import { caseWorkPart } from './console-cases.ts'
import { booksOf, readingPart } from './console-decisions.ts'
import { createExporter } from './console-downloads.ts'
import { openPeopleLogins, openReaderLogins } from './console-logins.ts'
import { endpointsPart, registerPart, tokensPart } from './console-register.ts'
import {
  type ConsoleDecisionDeps,
  type DatabaseReading,
  invitingPart,
  openIdPart,
  signInPart,
} from './console-sign-in.ts'
import { retryAtOnce } from './retry.ts'
import { decisionProcedures } from './rules.ts'
import type { Services } from './services.ts'

type ConsolePeopleDeps = {
  services: Pick<Services, 'followed'>
  opsUrl: string
  reading: DatabaseReading
}

const now = () => new Date()

export function composePeople(
  settings: Settings,
  { services, opsUrl, reading }: ConsolePeopleDeps,
): ConsolePeople & AsyncDisposable {
  const { db, decider } = openPeopleLogins(settings)
  const logins = openReaderLogins(settings.databaseUrl)
  const { administratorKey: pinned, databaseUrl } = settings.people
  const deps = { db, pinned, origin: originOfConsole(settings.links, Number(new URL(opsUrl).port)) }
  const current = () => ({ ...settings, ...services.followed() })
  const procedures = decisionProcedures({ settings: current, pinned, now })
  const check = async () => {
    // A login without the role cannot even connect with it.
    if (databaseUrl === null) await reading(refuseUnlessDecider(db))
  }
  const record = ({ person }: ConsoleUser, act: RecordedAct) => reading(recordAccess(db, { ...act, person }))
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
    log: (user, limit) =>
      reading(listAudit(logins.toAudit(user), { person: null, action: null, after: null, limit })),
    policyOfSettings: () => ({ kind: 'policy', change: policyChangeOf(ruleSetOf(current())) }),
    ...requestingPart(db, settings, reading),
    ...registerPart({ ...deciding, origin: deps.origin }, reading),
    ...tokensPart(db, reading),
    ...endpointsPart(db, current, reading),
    recordAct: record,
    exportBooks: createExporter(settings),
    async retryQuarantine(user) {
      const retried = await reading(retry())
      await record(user, { action: 'webhooks_retried', detail: retrySentences(retried).join(', ') })
      return retried
    },
    dropQuarantined: ({ person }, id, reason) =>
      reading(inTransaction(db, (tx) => dropWebhook(tx, { person, id, reason }))),
    ...caseWorkPart({ ...logins, db, pinned }, reading),
    async [Symbol.asyncDispose]() {
      await Promise.all([db.destroy(), decider.destroy(), logins[Symbol.asyncDispose]()])
    },
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

type DroppedWebhook = { person: string; id: bigint; reason: string }

/** @returns false if it is no longer there */
async function dropWebhook(
  tx: Transaction<Tables>,
  { person, id, reason }: DroppedWebhook,
): Promise<boolean> {
  const ids = await dropQuarantined(tx, [id])
  if (ids.length > 0)
    await recordAccess(tx, { person, action: 'webhooks_dropped', detail: dropText(ids, reason) })
  return ids.length > 0
}

/** Decisions are written by a login of their own, once a signature is valid. */
function decidingPart(
  deps: ConsoleDecisionDeps,
  reading: DatabaseReading,
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
        each(contents, async (content) => {
          const { id } = await submitDecision(deps, content, signer)
          if (content.kind === 'person') await deleteInvitation(db, (content.change as Person).person)
          return id
        }),
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

/** What forms and files of the console ask for, as the command line reads it. */
function requestingPart(
  db: Database<Tables>,
  { networks }: Settings,
  reading: DatabaseReading,
): Pick<ConsolePeople, 'journalOf' | 'additionOf' | 'saveView' | 'removeView'> {
  return {
    saveView: (view) => reading(inTransaction(db, (tx) => saveView(tx, view))),
    removeView: (view) => reading(removeView(db, view)),
    journalOf(written) {
      const { file, faults } = parseJournalFile(JSON.stringify(written))
      // The form has no lines of a file.
      if (file === null) throw unusable(faults.map((fault) => fault.replace(/^line \d+, /, '')).join('; '))
      const change = { ...file, date: file.date.toISOString() } as unknown as JsonValue
      return { kind: 'journal', change }
    },
    async additionOf(kind, { name, content }) {
      const format = { '.csv': 'csv', '.json': 'json' }[extname(name).toLowerCase()]
      if (format !== 'csv' && format !== 'json') throw unusable(`${name} is neither .csv nor .json`)
      const { rows, faults } = readOwnersFile(content.toString(), { format, kind })
      const checked = await reading(checkImport({ db, networks }, { kind, rows }))
      if (checked.kind === 'refused' || faults.length > 0)
        refuseImport(name, [...faults, ...(checked.kind === 'refused' ? checked.faults : [])])
      if (!checked.isNew) throw unusable(`all of ${name} is in the address book`)
      return { kind: 'addresses', change: additionOf(checked.entries) }
    },
  }
}

function unusable(problem: string): Fault<'usage_bad'> {
  return new Fault('usage_bad', { problem, fix: 'correct it; nothing was decided' })
}
