import { type ConsoleRequestContent, readConsoleRequest } from '../../people/console-request.ts'
import type { CaseAction } from '../../store/mismatches/cases.ts'
import { snoozesMs } from './case-forms.ts'
import { decisionFilter, decisionPage, decisionsPage, draftPage } from './decisions.ts'
import { refused } from './forms.ts'
import { assertionOf } from './passkey-form.ts'
import type { ConsolePeople, ConsoleUser } from './people.ts'
import { missing, numberOf, readQuery, shortText } from './query.ts'
import { type ConsoleAnswer, type ConsoleRequest, readNumbered } from './request.ts'
import { invitationPage, signInPage, youPage } from './sign-in.ts'

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

export async function showYou({ user }: ConsoleRequest): Promise<ConsoleAnswer> {
  return user === null ? { redirect: '/sign-in' } : youPage(user)
}

export async function showInvitation({ people, id, token }: ConsoleRequest): Promise<ConsoleAnswer> {
  const invitation = await people.invitation(id)
  if (invitation === null) throw missing('invitation', '…')
  const held = token ?? (await people.startSignIn()).token
  return invitationPage(invitation, { origin: people.origin, link: id, token: held })
}

export async function takePasskey({ people, id, field }: ConsoleRequest): Promise<ConsoleAnswer> {
  await people.takePasskey(id, field('passkey'))
  return { redirect: `/invitations/${id}` }
}

export async function showDecisions({ people, search }: ConsoleRequest): Promise<ConsoleAnswer> {
  const wish = decisionFilter(search)
  const { state = null, before = null, limit } = wish
  return decisionsPage(await people.decisions({ state, before, limit }), wish)
}

export async function showDecision({ people, user, search, id }: ConsoleRequest): Promise<ConsoleAnswer> {
  readQuery(search, {})
  const shown = await readNumbered('decision', id, people.decision)
  return decisionPage(shown, user, people.origin)
}

export async function draft({ people, user, field }: ConsoleRequest): Promise<ConsoleAnswer> {
  const person = signedIn(user)
  if (person.passkeys.length === 0)
    throw refused('you have no passkey at this address to sign with; your own page says how to make one')
  return draftPage(await people.draft(person, requestOf(field)), person, people.origin)
}

/** @throws Fault `request_refused` if the form is not one of a decision */
function requestOf(field: ConsoleRequest['field']): ConsoleRequestContent {
  const [action, reason] = [field('action'), field('reason')]
  const request =
    action === 'write_off'
      ? readConsoleRequest({
          kind: action,
          change: { mismatch: field('mismatch'), verdict: action, account: field('account'), reason },
        })
      : readConsoleRequest({
          kind: action === 'reopened' ? 'reopen' : 'close',
          change: { action, forced: false, period: field('period'), reason: reason === '' ? null : reason },
        })
  if (request !== null) return request
  throw refused('the form is not complete: choose what it offers, and give a reason', 400)
}

export async function requestDecision({ people, user, field }: ConsoleRequest): Promise<ConsoleAnswer> {
  const id = await people.request(
    signedIn(user),
    Buffer.from(field('text'), 'base64url').toString(),
    assertionOf(field('passkey')),
  )
  return { redirect: `/decisions/${id}` }
}

export async function approve({ people, user, id, field }: ConsoleRequest): Promise<ConsoleAnswer> {
  await people.approve(signedIn(user), numberOf('id', id), assertionOf(field('passkey')))
  return { redirect: `/decisions/${id}` }
}

export async function reject({ people, user, id, field }: ConsoleRequest): Promise<ConsoleAnswer> {
  const reason = field('reason')
  if (reason === '') throw refused('give a reason', 400)
  await people.reject(signedIn(user), numberOf('id', id), reason)
  return { redirect: `/decisions/${id}` }
}

export async function workOnCase({ people, user, id, field }: ConsoleRequest): Promise<ConsoleAnswer> {
  const person = signedIn(user)
  if (!person.roles.includes('operator')) throw refused(`${person.person} is no operator`)
  await people.workOnCases(person, [numberOf('id', id)], actionOf(field, person))
  return { redirect: `/mismatches/${id}` }
}

/** @throws Fault `request_refused` if the form is not one of a case */
function actionOf(field: ConsoleRequest['field'], { person }: ConsoleUser): CaseAction {
  const [action, text] = [field('action'), field('text')]
  if (action === 'take') return { action: 'assigned', to: person }
  if (action === 'leave') return { action: 'assigned', to: null }
  if (action === 'wake') return { action: 'snoozed', until: null }
  const spanMs = snoozesMs[field('for')]
  if (action === 'snooze' && spanMs !== undefined)
    return { action: 'snoozed', until: new Date(Date.now() + spanMs) }
  const written = (['commented', 'resolved', 'reopened'] as const).find((one) => one === action)
  if (written === undefined) throw refused(`there is no action "${action}"`, 400)
  if (text === '') throw refused('write a text', 400)
  return { action: written, text }
}

function signedIn(user: ConsoleUser | null): ConsoleUser {
  if (user === null) throw refused('you are signed out: sign in, and send the form again', 401)
  return user
}
