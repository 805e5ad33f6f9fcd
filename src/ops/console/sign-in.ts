import { challengeOf, readPasskey } from '../../people/passkey.ts'
import { formTokenOf, refused } from './forms.ts'
import { type Html, html, whole } from './html.ts'
import { type ConsolePage, sectionOf } from './page.ts'
import { assertionOf, creationOptions, hidden, passkeyForm, requestOptions } from './passkey-form.ts'
import { type ConsolePeople, type ConsoleUser, signedIn } from './people.ts'
import { missing, readQuery, shortText } from './query.ts'
import type { ConsoleAnswer, ConsoleRequest } from './request.ts'

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

type StartedSignIn = Awaited<ReturnType<ConsolePeople['startSignIn']>>

function signInPage(
  { token, challenge }: StartedSignIn,
  { origin, provider, to }: { origin: string; provider: string | null; to: string },
): ConsolePage {
  const form = passkeyForm({
    path: '/sign-in',
    formToken: formTokenOf(token),
    label: 'Sign in with a passkey',
    options: requestOptions(origin, challenge),
    step: 'get',
    fields: hidden('to', to),
  })
  const insecure = html`<p class="problem">Passkeys need HTTPS: set PUBLIC_URL to the https address of this console.</p>`
  const body = html`<h1>Sign in</h1>
${provider === null ? null : html`<p><a href="/sign-in/open-id">Sign in at ${provider}</a></p>`}
${isSecure(origin) ? form : insecure}
<p class="note">No passkey yet? An administrator invites you: <code>bin/depositd people invite NAME --roles ROLES</code>.</p>
<p class="note"><a href="/sign-in/token">Read only, with the token of the settings</a></p>`
  return { title: 'Sign in', body, token }
}

/** Browsers have passkeys, and keep the cookie, on these alone. */
function isSecure(origin: string): boolean {
  const { protocol, hostname } = new URL(origin)
  return protocol === 'https:' || hostname === 'localhost'
}

type ShownInvitation = NonNullable<Awaited<ReturnType<ConsolePeople['invitation']>>>

type InvitationPage = { origin: string; link: string; token: string }

function invitationPage(
  { person, roles, challenge, code, passkey, first }: ShownInvitation,
  { origin, link, token }: InvitationPage,
): ConsolePage {
  const make = passkeyForm({
    path: `/invitations/${link}`,
    formToken: formTokenOf(token),
    label: 'Make a passkey',
    options: creationOptions(origin, { challenge, person }),
    step: 'create',
  })
  const enter =
    first === null ? null : entryForm(first, { path: `/invitations/${link}`, token, origin, passkey })
  const made = html`<p>Your passkey is made. Its code is</p>
<p class="code">${code}</p>
<p>Read this code to the administrator who invited you. Once they have confirmed it, <a href="/sign-in">sign in</a>.</p>`
  const body = html`<h1>You are invited as ${person}</h1>
<p>Roles: ${roles.join(', ')}. A passkey signs you in and signs what you decide. It stays on your device.</p>
${code === null ? make : (enter ?? made)}`
  return { title: 'Invitation', body, token }
}

type EntryForm = { path: string; token: string; origin: string; passkey: string | null }

function entryForm(text: string, { path, token, origin, passkey }: EntryForm): Html {
  const own = readPasskey(passkey ?? '')
  const form = passkeyForm({
    path,
    formToken: formTokenOf(token),
    label: 'Sign and enter',
    options: requestOptions(origin, challengeOf(text), own === null ? [] : [own]),
    step: 'get',
    // Browsers would change its line breaks.
    fields: hidden('text', Buffer.from(text).toString('base64url')),
  })
  return html`<p>Your passkey is made. There are no people yet: sign your own entry, as the first administrator.</p>
${form}
<details><summary>What is signed</summary><pre>${whole(text)}</pre></details>`
}

/** @param key with which the register of people begins */
function enteredPage(key: string): ConsolePage {
  const body = html`<h1>You are the first administrator</h1>
<p>Set this on every machine that checks decisions, so that no other register can begin in this database:</p>
<pre>ADMINISTRATOR_KEY="${key}"</pre>
<p><a href="/sign-in">Sign in</a>, and invite others: <code>bin/depositd people invite NAME --roles ROLES</code></p>`
  return { title: 'First administrator', body }
}

function devicePage(
  { person, formToken }: ConsoleUser,
  { device, code }: { device: string; code: string },
): ConsolePage {
  const body = html`<h1>A command line asks to work as you</h1>
<p>Allow it only if your own terminal shows this code:</p>
<p class="code">${code}</p>
<p>It may then do what ${person} may do without signing, for 12 hours.</p>
<form class="act" method="post" action="/login/${device}">${hidden('form', formToken)}<button type="submit">Allow</button></form>`
  return { title: 'Login', body }
}

function grantedPage({ person }: ConsoleUser): ConsolePage {
  return {
    title: 'Login',
    body: html`<h1>The command line works as ${person}</h1><p>You may close this page.</p>`,
  }
}

function youPage({ person, roles, passkeys, formToken }: ConsoleUser): ConsolePage {
  const keys =
    passkeys.length === 0
      ? html`<p>You have no passkey at this address, so you cannot sign decisions here. Make one: <code>bin/depositd people invite ${person} --roles ${roles.join(',')}</code>.</p>`
      : html`<p>Passkeys that sign here: ${passkeys.length}</p>`
  const body = html`<h1>${person}</h1>
<p>Roles: ${roles.join(', ')}</p>
${sectionOf('Passkeys', keys)}
<form class="act" method="post" action="/sign-out">${hidden('form', formToken)}<button type="submit">Sign out</button></form>`
  return { title: person, body }
}
