import { type EventPayload, eventPayloads, eventTypes } from '../../core/event.ts'
import { parseTime } from '../../core/time.ts'
import { signatureNames } from '../../outbox/signing-key.ts'
import { attemptColumns, endpointColumns, pauseReasons } from '../../presentation/events.ts'
import type { EndpointChange, ReplayStart } from '../../store/change-endpoints.ts'
import type { AttemptLine } from '../../store/event-deliveries.ts'
import type { EventEndpoint, WrittenContent } from '../../store/event-endpoints.ts'
import { endpointForms, makeForm, overlapsMs } from './endpoint-forms.ts'
import { refused } from './forms.ts'
import { factsOf, type Html, type HtmlContent, html, tableOf, timeOf, withShown } from './html.ts'
import { badge, type ConsolePage, pager, sectionOf } from './page.ts'
import { type AttemptFilter, type ConsoleEndpoint, type ConsoleUser, may, personWho } from './people.ts'
import { missing, numberOf, oneOf, readQuery } from './query.ts'
import type { ConsoleAnswer, ConsoleRequest } from './request.ts'

/** More than there may be. */
const endpointsMax = 100
const attemptsMax = 50

/** Addresses may hold a secret of the receiver. */
export async function showEndpoints({ people, user, search }: ConsoleRequest): Promise<ConsoleAnswer> {
  readQuery(search, {})
  const reader = personWho(user, 'see event endpoints')
  return endpointsPage(await people.endpoints(endpointsMax), reader)
}

export async function showEndpoint({ people, user, search, id }: ConsoleRequest): Promise<ConsoleAnswer> {
  const wish = { ...readQuery(search, { before: numberOf }), limit: attemptsMax }
  const reader = personWho(user, 'see event endpoints')
  const shown = await people.endpoint(id, wish)
  if (shown === null) throw missing('event endpoint', id)
  return endpointPage(shown, wish, reader)
}

/** Shows what the receiver verifies with this once. */
export async function makeEndpoint({ people, user, field }: ConsoleRequest): Promise<ConsoleAnswer> {
  const administrator = personWho(user, 'change event endpoints')
  const [name, signature] = [field('name'), signatureOf(field)]
  const key = await people.makeEndpoint(administrator, { name, signature, ...contentOf(field) })
  return keyPage(name, `The endpoint ${name} is made`, key)
}

export async function changeEndpoint({ people, user, id, field }: ConsoleRequest): Promise<ConsoleAnswer> {
  const administrator = personWho(user, 'change event endpoints')
  switch (field('action')) {
    case 'test':
      await people.testEndpoint(administrator, id)
      break
    case 'rotate': {
      const overlapMs = overlapsMs[field('overlap')]
      if (overlapMs === undefined) throw refused('choose how long the secret before signs too', 400)
      const rotation = { signature: signatureOf(field), overlapMs }
      const key = await people.rotateSecret(administrator, id, rotation)
      return keyPage(id, `The endpoint ${id} has a new secret`, key)
    }
    default:
      await people.changeEndpoint(administrator, id, changeOf(id, field))
  }
  return { redirect: field('action') === 'remove' ? '/endpoints' : `/endpoints/${id}` }
}

type Field = ConsoleRequest['field']

/** @throws Fault `request_refused` if the form is not one of an endpoint */
function changeOf(name: string, field: Field): EndpointChange {
  const action = oneOf(['pause', 'resume', 'remove', 'edit', 'replay'])('action', field('action'))
  if (action === 'edit') return { action, ...contentOf(field) }
  if (action === 'replay') return { action, from: startOf(field('sequence'), field('since')) }
  if (action === 'remove' && field('confirm') !== name)
    throw refused(`write the name ${name} to remove it`, 400)
  return { action }
}

function startOf(sequence: string, time: string): ReplayStart {
  if ((sequence === '') === (time === '')) throw refused('give a sequence or a time, and not both', 400)
  if (time === '') return { sequence: numberOf('sequence', sequence) }
  const since = parseTime(time)
  if (since === null) throw refused('give a day or a time, like 2026-11-20 or 2026-11-20T08:00:00Z', 400)
  return { since }
}

/** Nothing chosen is all. */
function contentOf(field: Field): WrittenContent {
  const types = eventTypes.filter((type) => field(`type-${type}`) !== '')
  const payload: EventPayload = oneOf(eventPayloads)('payload', field('payload'))
  const [services, owners] = [wordsIn(field('services')), wordsIn(field('owners'))]
  return { url: field('url'), payload, types: types.length === 0 ? null : types, services, owners }
}

function wordsIn(text: string): string[] | null {
  const words = text.split(',').map((word) => word.trim())
  const named = [...new Set(words.filter((word) => word !== ''))]
  return named.length === 0 ? null : named
}

function signatureOf(field: Field) {
  return oneOf(signatureNames)('signature', field('signature'))
}

function endpointsPage(endpoints: readonly EventEndpoint[], user: ConsoleUser): ConsolePage {
  const columns = withShown<EventEndpoint>(endpointColumns, {
    NAME: ({ name }) => html`<a href="/endpoints/${name}">${name}</a>`,
    STATE: stateOf,
    BEHIND: behindOf,
  })
  const body = html`<p class="crumbs"><a href="/services">Services</a></p>
<h1>Event endpoints</h1>
<p class="note">Your own systems that events are sent to. An endpoint has taken all events up to the number that is delivered; the later ones are behind.</p>
${tableOf(endpoints, { caption: 'Event endpoints, by name', columns, empty: 'No endpoints yet.' })}
${may(user, 'change event endpoints') ? sectionOf('Add an endpoint', makeForm(user)) : null}`
  return { title: 'Event endpoints', entry: '/services', body }
}

const tones = { active: 'fine', failing: 'warning', requested: 'quiet', stopped: 'severe' } as const

function toneOf({ reason, failing_since: failing }: EventEndpoint): keyof typeof tones {
  if (reason !== null) return reason === 'requested' ? 'requested' : 'stopped'
  return failing === null ? 'active' : 'failing'
}

function stateOf(endpoint: EventEndpoint): Html {
  const { state, reason, paused_at: since } = endpoint
  const why = since && reason && html` since ${timeOf(since)}: ${pauseReasons[reason]}`
  return html`${badge(tones[toneOf(endpoint)], state)}${why}`
}

function behindOf({ behind, behind_since: since }: EventEndpoint): HtmlContent {
  return since === null ? behind : html`${behind}, since ${timeOf(since)}`
}

function endpointPage(
  { endpoint, attempts }: ConsoleEndpoint,
  wish: AttemptFilter,
  user: ConsoleUser,
): ConsolePage {
  const { name } = endpoint
  const columns = withShown<AttemptLine>(attemptColumns, {
    AT: ({ at }) => timeOf(at),
    DEPOSIT: ({ depositId: id }) => id && html`<a href="/deposits/${id}">${id}</a>`,
  })
  const rows = attempts.map((one) => ({ ...one, id: `${one.id}` }))
  const body = html`<p class="crumbs"><a href="/services">Services</a> / <a href="/endpoints">Event endpoints</a></p>
<h1>Event endpoint ${name}</h1>
${endpointFacts(endpoint)}
${sectionOf(
  'Deliveries',
  tableOf(attempts, { caption: 'Attempts, the newest first', columns, empty: 'No attempts yet.' }),
  pager({ path: `/endpoints/${name}`, wish, field: 'before', rows }),
)}
${may(user, 'change event endpoints') ? endpointForms(endpoint, user) : null}`
  return { title: `Event endpoint ${name}`, entry: '/services', body }
}

const ownFacts: Readonly<Record<string, (endpoint: EventEndpoint) => HtmlContent>> = {
  STATE: stateOf,
  BEHIND: behindOf,
}

function endpointFacts(endpoint: EventEndpoint): Html {
  const { secrets, created_by: by, created_at: at } = endpoint
  const facts = endpointColumns.map(({ title, value }) => {
    const show = ownFacts[title]?.(endpoint)
    return { name: title.toLowerCase(), lines: [value(endpoint)], ...(show !== undefined && { show }) }
  })
  const signs = secrets.map(
    ({ version, scheme, public_key: key, expires_at: ends }) =>
      html`<p>${version}: ${scheme} ${key ?? ''}${ends && html`, until ${timeOf(ends)}`}</p>`,
  )
  return factsOf([
    ...facts,
    { name: 'secrets', lines: [], show: signs },
    { name: 'made', lines: [], show: html`by ${by}, ${timeOf(at)}` },
  ])
}

function keyPage(name: string, title: string, key: string): ConsolePage {
  const body = html`<p class="crumbs"><a href="/services">Services</a> / <a href="/endpoints">Event endpoints</a> / <a href="/endpoints/${name}">${name}</a></p>
<h1>${title}</h1>
<p>${key.startsWith('whpk_') ? 'The receiver verifies with this public key:' : 'The receiver verifies with this secret. It is shown this once:'}</p>
<pre>${key}</pre>`
  return { title, entry: '/services', body }
}
