import { z } from 'zod'
import { mayBeLost } from '../../core/mismatch.ts'
import { type ConsoleRequestContent, readConsoleRequest } from '../../people/console-request.ts'
import type { MismatchRow } from '../../presentation/mismatch.ts'
import type { CaseAction, SnoozeEnd } from '../../store/mismatches/cases.ts'
import { snoozeEnds, snoozesMs } from './case-forms.ts'
import {
  decisionFilter,
  decisionPage,
  decisionsPage,
  draftPage,
  resultPage,
  waitingPage,
} from './decisions.ts'
import { refused } from './forms.ts'
import { mismatchFilter } from './mismatches.ts'
import { assertionOf } from './passkey-form.ts'
import { type ConsolePeople, type ConsoleUser, namesOf, personWho, signedIn } from './people.ts'
import { missing, numberOf, readQuery } from './query.ts'
import { type ConsoleAnswer, type ConsoleRequest, readNumbered } from './request.ts'

export async function showDecisions({ people, user, search }: ConsoleRequest): Promise<ConsoleAnswer> {
  const wish = decisionFilter(search)
  const { state = null, before = null, limit } = wish
  return decisionsPage(await people.decisions({ state, before, limit }), wish, user)
}

export async function showDecision({ people, user, search, id }: ConsoleRequest): Promise<ConsoleAnswer> {
  readQuery(search, {})
  const shown = await readNumbered('decision', id, people.decision)
  return decisionPage(shown, user, people.origin)
}

/** As it is signed, to the byte. */
export async function downloadText({ people, search, id }: ConsoleRequest): Promise<ConsoleAnswer> {
  readQuery(search, {})
  const { text } = await readNumbered('decision', id, people.decision)
  return { download: `decision-${id}.txt`, text }
}

export async function draft({ people, user, field }: ConsoleRequest): Promise<ConsoleAnswer> {
  const request = requestOf(field('action'), [field('mismatch')], field)
  return draftsOf(people, signedIn(user), [request])
}

async function draftsOf(
  people: ConsolePeople,
  user: ConsoleUser,
  requests: readonly ConsoleRequestContent[],
): Promise<ConsoleAnswer> {
  if (user.passkeys.length === 0)
    throw refused('you have no passkey at this address to sign with; your own page says how to make one')
  return draftPage(await people.draft(user, requests), user, people.origin)
}

/** @throws Fault `request_refused` if the form is not one of a decision */
function requestOf(
  action: string,
  mismatches: readonly string[],
  field: ConsoleRequest['field'],
): ConsoleRequestContent {
  const reason = field('reason') || field('text') || null
  const about = { action, mismatches, reason }
  const request = readConsoleRequest(
    caseRequest(about, field('account')) ?? periodRequest(about, field('period')),
  )
  if (request !== null) return request
  throw refused('the form is not complete: choose what it offers, and give a reason', 400)
}

type RequestedChange = { action: string; mismatches: readonly string[]; reason: string | null }

/** Null if it is not about mismatches. */
function caseRequest({ action, mismatches, reason }: RequestedChange, account: string) {
  if (action === 'resolved') return { kind: 'resolve', change: { mismatches, reason } }
  if (action !== 'write_off') return null
  return { kind: action, change: { mismatch: mismatches[0], verdict: action, account, reason } }
}

function periodRequest({ action, reason }: RequestedChange, period: string) {
  const kind = action === 'reopened' ? 'reopen' : 'close'
  return { kind, change: { action, forced: false, period, reason } }
}

export async function requestDecision({ people, user, field }: ConsoleRequest): Promise<ConsoleAnswer> {
  const texts = textsOf(field('texts'))
  const result = await people.request(signedIn(user), texts, assertionOf(field('passkey')))
  if (result.problems.length > 0) return resultPage(result, 'requested')
  return { redirect: texts.length === 1 ? `/decisions/${result.done[0] ?? ''}` : '/decisions' }
}

function textsOf(encoded: string): string[] {
  try {
    return z
      .array(z.string())
      .min(1)
      .parse(JSON.parse(Buffer.from(encoded, 'base64url').toString()))
  } catch {
    throw refused('the form does not hold what you signed', 400)
  }
}

const waitingMax = 500

export async function showWaiting({ people, user, search }: ConsoleRequest): Promise<ConsoleAnswer> {
  readQuery(search, {})
  if (user === null) return { redirect: '/sign-in?to=/decisions/waiting' }
  return waitingPage(await people.waiting(user, waitingMax), user, people.origin)
}

export async function approveAll({ people, user, field }: ConsoleRequest): Promise<ConsoleAnswer> {
  const ids = field('ids')
    .split(' ')
    .map((id) => numberOf('ids', id))
  const result = await people.approve(signedIn(user), ids, assertionOf(field('passkey')))
  return result.problems.length > 0 ? resultPage(result, 'approved') : { redirect: '/decisions' }
}

export async function approve({ people, user, id, field }: ConsoleRequest): Promise<ConsoleAnswer> {
  await people.approve(signedIn(user), [numberOf('id', id)], assertionOf(field('passkey')))
  return { redirect: `/decisions/${id}` }
}

export async function reject({ people, user, id, field }: ConsoleRequest): Promise<ConsoleAnswer> {
  const reason = field('reason')
  if (reason === '') throw refused('give a reason', 400)
  await people.reject(signedIn(user), numberOf('id', id), reason)
  return { redirect: `/decisions/${id}` }
}

export async function workOnCase(request: ConsoleRequest): Promise<ConsoleAnswer> {
  const { reader, user, id } = request
  const person = personWho(user, 'work on cases')
  const { mismatch } = await readNumbered('mismatch', id, reader.mismatch)
  const { severity, loss_base: loss } = mismatch
  return workOn(request, person, {
    cases: [{ id, severity, loss_base: loss }],
    back: `/mismatches/${id}`,
  })
}

const casesMax = 500

/** All mismatches of a filter at once. */
export async function workOnCases(request: ConsoleRequest): Promise<ConsoleAnswer> {
  const { reader, people, user, field } = request
  const person = personWho(user, 'work on cases')
  const filter = new URLSearchParams(field('filter'))
  filter.delete('after')
  const cases = await reader.mismatches({ ...mismatchFilter(filter, reader), limit: casesMax })
  if (cases.length === 0) throw missing('mismatch', 'of this filter')
  if (field('action') !== 'write_off')
    return workOn(request, person, { cases, back: `/mismatches?${filter.toString()}` })
  return draftsOf(
    people,
    person,
    cases.map(({ id }) => requestOf('write_off', [id], field)),
  )
}

type WorkedCase = Pick<MismatchRow, 'id' | 'severity'> & { loss_base: unknown }

/** What may be a loss is resolved by a decision, of all of them. */
async function workOn(
  { people, field }: ConsoleRequest,
  person: ConsoleUser,
  { cases, back }: { cases: readonly WorkedCase[]; back: string },
): Promise<ConsoleAnswer> {
  const ids = cases.map(({ id }) => id)
  const isLoss = cases.some(({ severity, loss_base: loss }) => mayBeLost({ severity, loss }))
  if (field('action') === 'resolved' && isLoss)
    return draftsOf(people, person, [requestOf('resolved', ids, field)])
  const act =
    field('action') === 'assign'
      ? { action: 'assigned' as const, to: await assigneeOf(people, field('to')) }
      : actionOf(field)
  await people.workOnCases(person, ids.map(BigInt), act)
  return { redirect: back }
}

/** Null for an empty name. */
async function assigneeOf(people: ConsolePeople, name: string): Promise<string | null> {
  if (name === '' || namesOf(await people.everyone()).includes(name)) return name || null
  throw refused(`${name} is not in the register of people`, 400)
}

/** @throws Fault `request_refused` if the form is not one of a case */
function actionOf(field: ConsoleRequest['field']): CaseAction {
  const [action, text] = [field('action'), field('text')]
  if (action === 'wake') return { action: 'snoozed', until: null }
  const until = snoozeOf(field('until'))
  if (action === 'snooze' && until !== undefined) return { action: 'snoozed', until }
  const written = (['commented', 'resolved', 'reopened'] as const).find((one) => one === action)
  if (written === undefined) throw refused(`there is no action "${action}"`, 400)
  if (text === '') throw refused('write a text', 400)
  return { action: written, text }
}

function snoozeOf(chosen: string): Date | SnoozeEnd | undefined {
  const spanMs = snoozesMs[chosen]
  return spanMs === undefined ? snoozeEnds[chosen] : new Date(Date.now() + spanMs)
}
