import { z } from 'zod'
import type { Assertion, Passkey } from '../../people/passkey.ts'
import { refused } from './forms.ts'
import { type Html, type HtmlContent, html, whole } from './html.ts'

type PasskeyForm = {
  path: string
  formToken: string
  /** Of the button. */
  label: string
  options: object
  step: 'create' | 'get'
  fields?: HtmlContent
}

/** Works only with script. */
export function passkeyForm({ path, formToken, label, options, step, fields = null }: PasskeyForm): Html {
  return html`<form class="act" method="post" action="${path}" data-step="${step}" data-passkey="${JSON.stringify(options)}">
${hidden('form', formToken)}<input type="hidden" name="passkey">${fields}
<button type="submit" aria-keyshortcuts="y">${label}</button>
<p role="alert" class="problem"></p>
<noscript><p>A passkey needs JavaScript. Without it, sign at the command line.</p></noscript></form>`
}

export function hidden(name: string, value: string): Html {
  return html`<input type="hidden" name="${name}" value="${whole(value)}">`
}

const timeoutMs = 300_000

/** Without passkeys, the browser offers all that it has for this host. */
export function requestOptions(origin: string, challenge: string, passkeys: readonly Passkey[] = []) {
  return {
    challenge,
    rpId: new URL(origin).hostname,
    allowCredentials: passkeys.map(({ credential: id }) => ({ type: 'public-key', id })),
    userVerification: 'required',
    timeout: timeoutMs,
  }
}

export function creationOptions(
  origin: string,
  { challenge, person }: { challenge: string; person: string },
) {
  return {
    challenge,
    rp: { id: new URL(origin).hostname, name: 'depositd' },
    user: { id: Buffer.from(person).toString('base64url'), name: person, displayName: person },
    // P-256, and RSA of older devices.
    pubKeyCredParams: [-7, -257].map((alg) => ({ type: 'public-key', alg })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    attestation: 'none',
    timeout: timeoutMs,
  }
}

const returnedSchema = z.object({
  id: z.string(),
  response: z.object({ authenticatorData: z.string(), clientDataJSON: z.string(), signature: z.string() }),
})

/** @param text JSON of the browser. @throws Fault `request_refused` */
export function assertionOf(text: string): string {
  let returned: unknown
  try {
    returned = JSON.parse(text)
  } catch {
    throw refused('the passkey returned nothing: this page needs JavaScript')
  }
  const { data } = returnedSchema.safeParse(returned)
  if (data === undefined) throw refused('the passkey returned something else than a signature')
  const { authenticatorData, clientDataJSON, signature } = data.response
  const assertion: Assertion = { credential: data.id, authenticatorData, clientDataJSON, signature }
  return JSON.stringify(assertion)
}
