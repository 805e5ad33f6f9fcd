import { quarantineColumns, retrySentences } from '../../presentation/lists.ts'
import { columnsFor, type ServicesShown } from '../../presentation/text.ts'
import type { QuarantinedRow, QuarantineLine } from '../../store/quarantine.ts'
import { refused } from './forms.ts'
import { clip, factsOf, type Html, html, tableOf, timeOf, whole, withShown } from './html.ts'
import { type ConsolePage, filterForm, pager, sectionOf } from './page.ts'
import { hidden } from './passkey-form.ts'
import { type ConsoleUser, may, personWho } from './people.ts'
import { missing, numberOf, oneOf, readQuery } from './query.ts'
import { type ConsoleChoices, type ConsoleQuarantineFilter, choicesOf } from './reader.ts'
import { type ConsoleAnswer, type ConsoleRequest, readNumbered } from './request.ts'

const pageMax = 50

export async function showQuarantine({ reader, user, search }: ConsoleRequest): Promise<ConsoleAnswer> {
  const wish = quarantineFilter(search, reader)
  return quarantinePage({ rows: await reader.quarantine(wish), wish, user, ...choicesOf(reader) })
}

export async function retryWebhooks({ people, user }: ConsoleRequest): Promise<ConsoleAnswer> {
  return retriedPage(await people.retryQuarantine(personWho(user, 'handle webhooks')))
}

export async function showWebhook({ reader, user, search, id }: ConsoleRequest): Promise<ConsoleAnswer> {
  readQuery(search, {})
  return webhookPage(await readNumbered('webhook in quarantine', id, reader.webhook), user)
}

export async function dropWebhook({ people, user, id, field }: ConsoleRequest): Promise<ConsoleAnswer> {
  const person = personWho(user, 'handle webhooks')
  const reason = field('reason')
  if (reason === '') throw refused('give a reason', 400)
  if (await people.dropQuarantined(person, numberOf('id', id), reason)) return { redirect: '/webhooks' }
  throw missing('webhook in quarantine', id)
}

/** @throws Fault `request_refused` if a filter is unknown */
function quarantineFilter(search: URLSearchParams, { services }: ConsoleChoices): ConsoleQuarantineFilter {
  return { ...readQuery(search, { service: oneOf(services), before: numberOf }), limit: pageMax }
}

type QuarantinePageData = {
  rows: readonly QuarantineLine[]
  wish: ConsoleQuarantineFilter
  user: ConsoleUser | null
} & ConsoleChoices &
  ServicesShown

function quarantinePage({ rows, wish, user, services, ...shown }: QuarantinePageData): ConsolePage {
  const columns = withShown(columnsFor(quarantineColumns, shown), {
    ID: ({ id }: QuarantineLine) => html`<a href="/webhooks/${id}">${id}</a>`,
    RECEIVED: ({ received_at: at }: QuarantineLine) => timeOf(at),
  })
  const filter = shown.hasSeveralServices
    ? filterForm('/webhooks', [
        { name: 'service', label: 'Service', value: wish.service, words: services, any: 'any' },
      ])
    : null
  const next = html`<p>Correct the setting that refused them, and take them in:</p>
<pre>bin/depositd webhooks quarantine retry</pre>
${retryForm(user)}`
  const body = html`<h1>Webhooks in quarantine</h1>
<p class="note">Webhooks whose signature or form was refused. They are kept until they are taken in or dropped, and nothing is lost.</p>
${filter}
${tableOf(rows, { caption: 'Webhooks in quarantine, the newest first', columns, empty: 'The quarantine is empty: every webhook was accepted.' })}
${pager({ path: '/webhooks', wish, field: 'before', rows })}
${rows.length === 0 ? null : sectionOf('Next', next)}`
  return { title: 'Webhooks', entry: '/webhooks', body }
}

function retryForm(user: ConsoleUser | null): Html | null {
  if (user === null || !may(user, 'handle webhooks')) return null
  return html`<form class="act" method="post" action="/webhooks">${hidden('form', user.formToken)}<button type="submit">Retry all</button></form>`
}

function retriedPage(retried: readonly { outcome: string }[]): ConsolePage {
  const body = html`<p class="crumbs"><a href="/webhooks">Webhooks in quarantine</a></p>
<h1>Retried</h1>
<ul>${retrySentences(retried).map((sentence) => html`<li>${sentence}</li>`)}</ul>`
  return { title: 'Retried', entry: '/webhooks', body }
}

const longestBody = 20_000

/** As it was received; credentials in the headers are hashed. */
function webhookPage(shown: QuarantinedRow, user: ConsoleUser | null): ConsolePage {
  const { id, service, receivedAt, source, reason, headers, body: bytes } = shown
  const title = `Webhook ${id} in quarantine`
  const facts = [
    { name: 'refused', lines: [reason] },
    { name: 'received', lines: [], show: timeOf(receivedAt) },
    { name: 'from', lines: [source] },
    { name: 'service', lines: [service] },
    { name: 'bytes', lines: [`${bytes.length}`] },
  ]
  const body = html`<p class="crumbs"><a href="/webhooks">Webhooks in quarantine</a></p>
<h1>${title}</h1>
${factsOf(facts)}
${sectionOf('Headers', factsOf(Object.entries(headers).map(([name, value]) => ({ name, lines: [value] }))))}
${sectionOf('Body', html`<pre tabindex="0">${whole(clip(bytes.toString(), longestBody))}</pre>`)}
${user !== null && may(user, 'handle webhooks') ? sectionOf('Drop it', dropForm(id, user)) : null}`
  return { title, entry: '/webhooks', body }
}

function dropForm(id: bigint, { formToken }: ConsoleUser): Html {
  return html`<p class="note">A dropped webhook is deleted. If it was genuine, correct the setting that refused it and retry instead.</p>
<form class="act" method="post" action="/webhooks/${id}">${hidden('form', formToken)}
<label for="reason">Reason</label><input id="reason" name="reason" required maxlength="500" autocomplete="off">
<button type="submit">Drop</button></form>`
}
