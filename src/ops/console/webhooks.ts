import { quarantineColumns, retrySentences } from '../../presentation/lists.ts'
import { columnsFor, type ServicesShown } from '../../presentation/text.ts'
import type { QuarantineLine } from '../../store/quarantine.ts'
import { type Html, html, tableOf, withShown } from './html.ts'
import { type ConsolePage, filterForm, pager, sectionOf, timeOf } from './page.ts'
import { hidden } from './passkey-form.ts'
import { type ConsoleUser, may, personWho } from './people.ts'
import { numberOf, oneOf, readQuery } from './query.ts'
import { type ConsoleChoices, type ConsoleQuarantineFilter, choicesOf } from './reader.ts'
import type { ConsoleAnswer, ConsoleRequest } from './request.ts'

const pageMax = 50

export async function showQuarantine({ reader, user, search }: ConsoleRequest): Promise<ConsoleAnswer> {
  const wish = quarantineFilter(search, reader)
  return quarantinePage({ rows: await reader.quarantine(wish), wish, user, ...choicesOf(reader) })
}

export async function retryWebhooks({ people, user }: ConsoleRequest): Promise<ConsoleAnswer> {
  personWho(user, 'handle webhooks')
  return retriedPage(await people.retryQuarantine())
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
    RECEIVED: ({ received_at: at }: QuarantineLine) => timeOf(at),
  })
  const filter = shown.hasSeveralServices
    ? filterForm('/webhooks', [
        { name: 'service', label: 'Service', value: wish.service, words: services, any: 'any' },
      ])
    : null
  const next = html`<p>Correct the setting that refused them, and take them in:</p>
<pre>bin/depositd webhooks quarantine show ID
bin/depositd webhooks quarantine retry</pre>
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
