import { refused } from './forms.ts'
import { assertionOf } from './passkey-form.ts'
import { type ConsolePeople, signedIn } from './people.ts'
import { missing, readQuery, shortText } from './query.ts'
import type { ConsoleAnswer, ConsoleRequest } from './request.ts'
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
