import { tokenScopes } from '../../people/roles.ts'
import type { ApiToken } from '../../store/api-tokens.ts'
import { refused } from './forms.ts'
import { type Html, html, type ShownColumn, tableOf, timeOf } from './html.ts'
import { type ConsolePage, sectionOf } from './page.ts'
import { hidden } from './passkey-form.ts'
import { type ConsoleUser, personWho } from './people.ts'
import { missing, readQuery } from './query.ts'
import type { ConsoleAnswer, ConsoleRequest } from './request.ts'

const tokensMax = 200

export async function showTokens({ people, user, search }: ConsoleRequest): Promise<ConsoleAnswer> {
  readQuery(search, {})
  const administrator = personWho(user, 'make tokens')
  return tokensPage(await people.tokens(tokensMax), administrator)
}

/** Makes one, and shows it this once, or revokes one. */
export async function changeTokens({ reader, people, user, field }: ConsoleRequest): Promise<ConsoleAnswer> {
  const administrator = personWho(user, 'make tokens')
  const name = field('name')
  if (field('action') === 'revoke') {
    if (!(await people.revokeToken(administrator, name))) throw missing('token', name)
    return { redirect: '/tokens' }
  }
  const scopes = tokenScopes.filter((scope) => field(`scope-${scope}`) !== '')
  if (scopes.length === 0) throw refused('choose a scope', 400)
  const [services, owners] = [listIn(field('services')), listIn(field('owners'))]
  const unknown = services?.find((service) => !reader.services.includes(service))
  if (unknown !== undefined) throw refused(`there is no service ${unknown}`, 400)
  return madePage(name, await people.makeToken(administrator, { name, scopes, services, owners }))
}

/** Null for all. */
function listIn(text: string): string[] | null {
  const words = text.split(',').map((word) => word.trim())
  const named = [...new Set(words.filter((word) => word !== ''))]
  return named.length === 0 ? null : named
}

function tokensPage(tokens: readonly ApiToken[], { formToken }: ConsoleUser): ConsolePage {
  const revoke: ShownColumn<ApiToken> = {
    title: 'REVOKED',
    value: ({ revoked_at: at }) => at?.toISOString() ?? '',
    show: ({ name, revoked_at: at }) => (at === null ? revokeForm(name, formToken) : timeOf(at)),
  }
  const scopes = tokenScopes.map(
    (scope) => html`<label><input type="checkbox" name="scope-${scope}" value="yes"> ${scope}</label>
`,
  )
  const body = html`<p class="crumbs"><a href="/people">People</a></p>
<h1>API tokens</h1>
<p class="note">Each is a service account with a name: a program that reads the API with it. It is no person, signs nothing, and is never a second person.</p>
${tableOf(tokens, { caption: 'Tokens, the oldest first', columns: [...columns, revoke], empty: 'No tokens yet.' })}
${sectionOf(
  'Make a token',
  html`<form class="write" method="post" action="/tokens">${hidden('form', formToken)}
<div><label for="name">Name</label><input id="name" name="name" required maxlength="63" pattern="[a-z0-9][a-z0-9._\\-]*" autocomplete="off" spellcheck="false"></div>
<fieldset><legend>Scopes</legend>${scopes}</fieldset>
<div><label for="services">Services that it may see, with commas; empty for all</label><input id="services" name="services" maxlength="1000" autocomplete="off" spellcheck="false"></div>
<div><label for="owners">Owners that it may see, with commas; empty for all</label><input id="owners" name="owners" maxlength="1000" autocomplete="off" spellcheck="false"></div>
<button type="submit">Make the token</button></form>`,
)}`
  return { title: 'API tokens', entry: '/people', body }
}

function revokeForm(name: string, formToken: string): Html {
  return html`<form method="post" action="/tokens">${hidden('form', formToken)}${hidden('action', 'revoke')}${hidden('name', name)}<button type="submit">Revoke ${name}</button></form>`
}

function madePage(name: string, token: string): ConsolePage {
  const body = html`<p class="crumbs"><a href="/people">People</a> / <a href="/tokens">API tokens</a></p>
<h1>The token ${name} is made</h1>
<p>It is shown this once:</p>
<pre>${token}</pre>`
  return { title: 'API token', entry: '/people', body }
}

const columns: readonly ShownColumn<ApiToken>[] = [
  { title: 'NAME', value: ({ name }) => name },
  { title: 'SCOPES', value: ({ scopes }) => scopes.join(', ') },
  { title: 'SERVICES', value: ({ services }) => services?.join(', ') ?? 'all' },
  { title: 'OWNERS', value: ({ owners }) => owners?.join(', ') ?? 'all' },
  {
    title: 'MADE',
    value: ({ created_at: at }) => at.toISOString(),
    show: ({ created_at: at }) => timeOf(at),
  },
  { title: 'BY', value: ({ created_by: by }) => by },
  {
    title: 'LAST USED',
    value: ({ last_used_at: at }) => at?.toISOString() ?? '',
    show: ({ last_used_at: at }) => at && timeOf(at),
  },
]
