import { eventPayloads, eventTypes } from '../../core/event.ts'
import { signatureNames } from '../../outbox/signing-key.ts'
import type { EndpointContent, EventEndpoint } from '../../store/event-endpoints.ts'
import { type Html, type HtmlContent, html } from './html.ts'
import { sectionOf } from './page.ts'
import { hidden } from './passkey-form.ts'
import type { ConsoleUser } from './people.ts'

export function makeForm({ formToken }: ConsoleUser): Html {
  return html`<form class="write" method="post" action="/endpoints">${hidden('form', formToken)}
${inputOf('name', 'Name', { value: '', pattern: '[a-z0-9][a-z0-9._\\-]*', max: 63 })}
${contentFields({ url: '', payload: 'full', types: null, services: null, owners: null })}
${selectOf('signature', 'Signature', { words: signatureNames })}
<button type="submit">Add the endpoint</button></form>`
}

const [hourMs, dayMs] = [3_600_000, 86_400_000]

/** How long the secret before signs too, the usual first. */
export const overlapsMs: Readonly<Record<string, number>> = {
  '24 hours': dayMs,
  '7 days': 7 * dayMs,
  '1 hour': hourMs,
  'not at all': 0,
}

export function endpointForms(endpoint: EventEndpoint, { formToken }: ConsoleUser): Html {
  const { name, state } = endpoint
  const form = (action: string, label: string, fields: HtmlContent = null) =>
    html`<form class="${action === 'edit' ? 'write' : 'act'}" method="post" action="/endpoints/${name}">${hidden('form', formToken)}${hidden('action', action)}${fields}<button type="submit">${label}</button></form>
`
  return html`${sectionOf(
    'Operate',
    form('test', 'Send a test event'),
    state === 'paused' ? form('resume', 'Resume') : form('pause', 'Pause'),
  )}
${sectionOf(
  'Replay',
  html`<p class="note">Sends this event and all later ones again, with the same ids. Give a sequence, or a time.</p>`,
  form(
    'replay',
    'Replay',
    html`${inputOf('sequence', 'From sequence', { pattern: '[1-9][0-9]*', max: 18, isOptional: true })}
${inputOf('since', 'Since a day or time', { hint: '2026-11-20T08:00:00Z', max: 40, isOptional: true })}`,
  ),
)}
${sectionOf(
  'Rotate the secret',
  form(
    'rotate',
    'Make a new secret',
    html`${selectOf('signature', 'Signature', { words: signatureNames })}${selectOf('overlap', 'The secret before signs too', { words: Object.keys(overlapsMs) })}`,
  ),
)}
${sectionOf(
  'Edit',
  html`<p class="note">It holds for all that is not delivered yet. Events that were passed over are sent by a replay.</p>`,
  form('edit', 'Save', contentFields(endpoint)),
)}
${sectionOf(
  'Remove',
  html`<p class="note">Nothing more is sent, and its secrets are deleted.</p>`,
  form('remove', 'Remove', inputOf('confirm', `Write ${name} to remove it`, { max: 63 })),
)}`
}

function contentFields({ url, payload, types, services, owners }: EndpointContent): Html {
  const boxes = eventTypes.map(
    (type) =>
      html`<label><input type="checkbox" name="type-${type}" value="yes"${types?.includes(type) ? html` checked` : null}> ${type}</label>
`,
  )
  return html`${inputOf('url', 'URL', { value: url, max: 2000 })}
${selectOf('payload', 'Payload; thin is without data', { words: eventPayloads, chosen: payload })}
<fieldset><legend>Types; none chosen is all</legend>${boxes}</fieldset>
${inputOf('services', 'Services, with commas; empty for all', { value: services?.join(', '), max: 1000, isOptional: true })}
${inputOf('owners', 'Owners, with commas; empty for all', { value: owners?.join(', '), max: 1000, isOptional: true })}`
}

type InputOptions = {
  value?: string | undefined
  pattern?: string
  hint?: string
  max: number
  isOptional?: true
}

function inputOf(
  name: string,
  label: string,
  { value = '', pattern, hint, max, isOptional }: InputOptions,
): Html {
  const needed = isOptional ? null : html` required`
  const form = pattern === undefined ? null : html` pattern="${pattern}"`
  const example = hint === undefined ? null : html` placeholder="${hint}"`
  return html`<div><label for="${name}">${label}</label><input id="${name}" name="${name}" value="${value}" maxlength="${max}"${needed}${form}${example} autocomplete="off" spellcheck="false"></div>
`
}

function selectOf(
  name: string,
  label: string,
  { words, chosen = words[0] }: { words: readonly string[]; chosen?: string | undefined },
): Html {
  const options = words.map(
    (word) => html`<option${word === chosen ? html` selected` : null}>${word}</option>`,
  )
  return html`<div><label for="${name}">${label}</label><select id="${name}" name="${name}">${options}</select></div>
`
}
