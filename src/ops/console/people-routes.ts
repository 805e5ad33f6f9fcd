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
import { mayRetry, retriedPage } from './lists.ts'
import { assertionOf } from './passkey-form.ts'
import type { ConsolePeople, ConsoleUser } from './people.ts'
import { missing, numberOf, readQuery, shortText } from './query.ts'
import { type ConsoleAnswer, type ConsoleRequest, readNumbered } from './request.ts'
import { devicePage, enteredPage, grantedPage, invitationPage, signInPage, youPage } from './sign-in.ts'

export async function startSignIn({ people, search }: ConsoleRequest): Promise<ConsoleAnswer> {
  const { to = '/' } = readQuery(search, { to: shortText })
  const { origin, openId } = people
  const provider = openId?.name ?? null
  return signInPage(await people.startSignIn(), { origin, provider, to: localPath(to) })
}

/** Links lead back to this console alone. */
function localPath(path: string): string {
  return /^\/(?:[\w-][\w/-]*)?$/.test(path) ? path : '/'
}

export async function signIn({ people, token, field }: ConsoleRequest): Promise<ConsoleAnswer> {
  const signed = await people.signIn(token ?? '', assertionOf(field('passkey')))
  return { redirect: localPath(field('to')), token: signed }
}

export async function startOpenId({ people }: ConsoleRequest): Promise<ConsoleAnswer> {
  return openIdOf(people).start()
}

export async function finishOpenId({ people, token, search }: ConsoleRequest): Promise<ConsoleAnswer> {
  return { redirect: '/', token: await openIdOf(people).finish(token ?? '', search) }
}

function openIdOf({ openId }: ConsolePeople): NonNullable<ConsolePeople['openId']> {
  if (openId === null) throw missing('page', '/sign-in/open-id')
  return openId
}

export async function signInByLink({ people, id }: ConsoleRequest): Promise<ConsoleAnswer> {
  const token = await people.signInByLink(id)
  if (token === null) throw refused('this link was used already or has ended: begin at /sign-in')
  return { redirect: '/', token }
}

export async function signOut({ people, token }: ConsoleRequest): Promise<ConsoleAnswer> {
  await people.signOut(token ?? '')
  return { redirect: '/sign-in', token: '' }
}

/** A command line asks for a session. */
export async function showDevice({ people, user, id }: ConsoleRequest): Promise<ConsoleAnswer> {
  const device = deviceOf(id)
  if (user === null) return { redirect: `/sign-in?to=/login/${device}` }
  return devicePage(user, { device, code: people.codeOfDevice(device) })
}

export async function grantDevice({ people, user, id }: ConsoleRequest): Promise<ConsoleAnswer> {
  const person = signedIn(user)
  await people.grantDevice(deviceOf(id), person.token)
  return grantedPage(person)
}

function deviceOf(id: string): string {
  if (/^[\w-]{43}$/.test(id)) return id
  throw missing('login', '…')
}

export async function showYou({ user }: ConsoleRequest): Promise<ConsoleAnswer> {
  return user === null ? { redirect: '/sign-in' } : youPage(user)
}

export async function showInvitation({ people, id, token }: ConsoleRequest): Promise<ConsoleAnswer> {
  const invitation = await people.invitation(id)
  if (invitation === null) throw missing('invitation', '…')
  const held = token ?? (await people.startSignIn()).token
  return invitationPage(invitation, { origin: people.origin, link: id, token: held })
}

/** Makes the passkey; for the first administrator, then takes what they signed with it. */
export async function takePasskey({ people, id, field }: ConsoleRequest): Promise<ConsoleAnswer> {
  const text = field('text')
  if (text !== '')
    return enteredPage(
      await people.enter(id, Buffer.from(text, 'base64url').toString(), assertionOf(field('passkey'))),
    )
  await people.takePasskey(id, field('passkey'))
  return { redirect: `/invitations/${id}` }
}

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

export async function draft({ people, user, field }: ConsoleRequest): Promise<ConsoleAnswer> {
  const request = requestOf(field('action'), [field('mismatch')], field)
  return draftsOf(people, signedIn(user), [request])
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

export async function retryWebhooks({ people, user }: ConsoleRequest): Promise<ConsoleAnswer> {
  const person = signedIn(user)
  if (!mayRetry(person)) throw refused(`${person.person} is neither operator nor administrator`)
  return retriedPage(await people.retryQuarantine())
}

/** @throws Fault `request_refused` */
export function signedIn(user: ConsoleUser | null): ConsoleUser {
  if (user === null) throw refused('you are signed out: sign in, and try again', 401)
  return user
}
