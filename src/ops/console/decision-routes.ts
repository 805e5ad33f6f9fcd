import { z } from 'zod'
import { type ConsoleRequestContent, readConsoleRequest } from '../../people/console-request.ts'
import {
  decisionFilter,
  decisionPage,
  decisionsPage,
  draftPage,
  resultPage,
  waitingPage,
} from './decisions.ts'
import { refused } from './forms.ts'
import { assertionOf } from './passkey-form.ts'
import { type ConsolePeople, type ConsoleUser, signedIn } from './people.ts'
import { numberOf, readQuery } from './query.ts'
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

/** The policy of the settings. */
export async function draftPolicy({ people, user }: ConsoleRequest): Promise<ConsoleAnswer> {
  return draftsOf(people, signedIn(user), [people.policyOfSettings()])
}

export async function draftsOf(
  people: ConsolePeople,
  user: ConsoleUser,
  requests: readonly ConsoleRequestContent[],
): Promise<ConsoleAnswer> {
  if (user.passkeys.length === 0)
    throw refused('you have no passkey at this address to sign with; your own page says how to make one')
  return draftPage(await people.draft(user, requests), user, people.origin)
}

/** @throws Fault `request_refused` if the form is not one of a decision */
export function requestOf(
  action: string,
  mismatches: readonly string[],
  field: ConsoleRequest['field'],
): ConsoleRequestContent {
  const reason = field('reason') || field('text') || null
  const about = { action, mismatches, reason }
  const request = readConsoleRequest(
    caseRequest(about, field('account')) ??
      matchRequest(about, field('proposal')) ??
      periodRequest(about, field('period')),
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

/** Null if it is not about a proposed match, which has the deposit, the role and the transfer in one field. */
function matchRequest({ action: verdict, reason }: RequestedChange, proposal: string) {
  if (verdict !== 'together' && verdict !== 'apart') return null
  const [deposit, role, transfer] = proposal.split(' ')
  return { kind: 'match', change: { deposit, transfer, role, verdict, reason } }
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
