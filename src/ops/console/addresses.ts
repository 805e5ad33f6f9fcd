import { readConsoleRequest } from '../../people/console-request.ts'
import { entryColumns, ownerColumns } from '../../presentation/lists.ts'
import { columnsFor, type ServicesShown } from '../../presentation/text.ts'
import type { OwnerLine } from '../../store/owners.ts'
import { draftsOf } from './decision-routes.ts'
import { refused } from './forms.ts'
import { type Html, html, tableOf, timeOf, withShown } from './html.ts'
import { statementLink } from './ledger.ts'
import { type ConsolePage, filterForm, pager, sectionOf } from './page.ts'
import { hidden } from './passkey-form.ts'
import { type ConsoleUser, mayRequest, requesterOf } from './people.ts'
import { oneOf, readQuery, shortText } from './query.ts'
import type { ConsoleAddressFilter, ConsoleChoices } from './reader.ts'
import type { ConsoleAnswer, ConsoleRequest } from './request.ts'

const pageMax = 50
const ownerKinds = ['channel', 'stable_wallet'] as const

/** @throws Fault `request_refused` if a filter is unknown */
export function addressFilter(search: URLSearchParams, { services }: ConsoleChoices): ConsoleAddressFilter {
  const asked = readQuery(search, { kind: oneOf(ownerKinds), service: oneOf(services), after: shortText })
  return { kind: 'channel', ...asked, limit: pageMax }
}

type AddressesPageData = {
  rows: readonly OwnerLine[]
  wish: ConsoleAddressFilter
  user: ConsoleUser | null
} & ConsoleChoices &
  ServicesShown

export function addressesPage({ rows, wish, user, ...shown }: AddressesPageData): ConsolePage {
  const { kind, service } = wish
  const columns = withShown<OwnerLine>(columnsFor([...ownerColumns, ...entryColumns], shown), {
    'VALID FROM': ({ valid_from: at }) => at && timeOf(at),
    UNTIL: ({ valid_until: at, end_decision_id: decision }) =>
      at && html`${timeOf(at)}${decision === null ? ', not signed' : null}`,
    ID: ({ id }) => statementLink(`${kind}:${id}`, id),
  })
  const keyed = rows.map(({ id, network, address }) => ({ id: `${id}/${network}/${address}` }))
  const body = html`<h1>Addresses</h1>
<p class="note">The address book: what deposits and deliveries are compared with. Changes are <a href="/decisions">decisions</a>. An id leads to the statement of the owner.</p>
${filterForm('/addresses', [
  { name: 'kind', label: 'Owners', value: kind, words: ownerKinds },
  ...(shown.hasSeveralServices
    ? [{ name: 'service', label: 'Service', value: service, words: shown.services, any: 'any' }]
    : []),
])}
${tableOf(rows, { caption: 'Deposit addresses by owner', columns, empty: 'No addresses yet. An operator imports those that the service has from a file; bin/depositd channels create makes new ones at the service.' })}
${pager({ path: '/addresses', wish, field: 'after', rows: keyed })}
${mayRequest(user, 'addresses') ? changeForms(wish, user, shown.networks) : null}`
  return { title: 'Addresses', entry: '/addresses', body }
}

/** Both lead to the draft, which the person signs. */
function changeForms(
  { kind }: ConsoleAddressFilter,
  { formToken }: ConsoleUser,
  networks: readonly string[],
): Html {
  const options = networks.map((name) => html`<option>${name}</option>`)
  const common = html`${hidden('form', formToken)}${hidden('kind', kind)}`
  const owners = ownersText[kind]
  return html`${sectionOf(
    `Import ${owners}`,
    html`<form class="act" method="post" action="/addresses" enctype="multipart/form-data">${common}
<label for="file">File (.csv or .json)</label><input id="file" name="file" type="file" accept=".csv,.json" required>
<button type="submit">Prepare</button></form>
<p class="note">All of the file or nothing. Columns: id, network, address${kind === 'channel' ? ', forward_network, forward_asset, forward_recipient' : ''}; created_at and valid_from may follow.</p>`,
  )}
${sectionOf(
  'End addresses',
  html`<form class="act" method="post" action="/addresses/end">${common}
<label for="owner">Id</label><input id="owner" name="owner" required maxlength="200" autocomplete="off" spellcheck="false">
<label for="network">Network</label><select id="network" name="network"><option value="">all</option>${options}</select>
<label for="end">From now on</label><select id="end" name="end"><option value="ended">no longer valid</option><option value="valid">valid again</option></select>
<label for="reason">Reason</label><input id="reason" name="reason" required maxlength="500" autocomplete="off">
<button type="submit">Prepare</button></form>
<p class="note">They stay watched: payments from then on are a mismatch, and are not booked for the owner.</p>`,
)}`
}

const ownersText = { channel: 'channels', stable_wallet: 'StableWallets' } as const

/** All of a file. */
export async function importAddresses({ people, user, field, file }: ConsoleRequest): Promise<ConsoleAnswer> {
  const person = requesterOf(user, 'addresses')
  if (file === null) throw refused('choose a file', 400)
  return draftsOf(people, person, [await people.additionOf(kindOf(field), file)])
}

export async function endAddresses({ people, user, field }: ConsoleRequest): Promise<ConsoleAnswer> {
  const until = field('end') === 'valid' ? null : new Date().toISOString()
  const owner = { kind: kindOf(field), id: field('owner') }
  const change = { action: 'end', owner, network: field('network') || null, until, reason: field('reason') }
  const request = readConsoleRequest({ kind: 'addresses', change })
  if (request === null) throw refused('the form is not complete: give an id and a reason', 400)
  return draftsOf(people, requesterOf(user, 'addresses'), [request])
}

function kindOf(field: ConsoleRequest['field']): ConsoleAddressFilter['kind'] {
  return oneOf(ownerKinds)('kind', field('kind'))
}
