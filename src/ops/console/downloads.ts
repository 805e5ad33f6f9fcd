import { formatNames } from '../../ledger/export/formats.ts'
import { refused } from './forms.ts'
import { type Html, html } from './html.ts'
import { hidden } from './passkey-form.ts'
import { type ConsoleExport, type ConsoleUser, personWho, signedIn } from './people.ts'
import { readQuery } from './query.ts'
import { type ConsoleAnswer, type ConsoleRequest, readNumbered } from './request.ts'

/** What people take out of the database: each is entered in the audit log before it leaves. */

export async function downloadBundle({ reader, people, ...asked }: ConsoleRequest): Promise<ConsoleAnswer> {
  readQuery(asked.search, {})
  const person = signedIn(asked.user)
  const { id, text } = await readNumbered('deposit', asked.id, reader.bundle)
  await people.recordAct(person, { action: 'bundle_made', detail: `deposit ${id}` })
  return { download: `deposit-${id}.json`, text }
}

export async function downloadDispute({ reader, people, ...asked }: ConsoleRequest): Promise<ConsoleAnswer> {
  readQuery(asked.search, {})
  const person = signedIn(asked.user)
  const { deposit, files } = await readNumbered('short delivery of mismatch', asked.id, reader.dispute)
  await people.recordAct(person, { action: 'dispute_made', detail: `deposit ${deposit}` })
  return {
    download: `dispute-${asked.id}.zip`,
    async write(archive) {
      for (const { name, text } of files) await archive.file(name, text)
    },
  }
}

/** Only for people who signed in, as a bundle. */
export function disputeLink(mismatch: string, user: ConsoleUser | null): Html | null {
  if (user === null) return null
  return html`<p><a href="/mismatches/${mismatch}/dispute">Download the dispute file</a>: the short delivery as a page and as CSV, with its evidence bundle, in one ZIP archive for the service. For all of a service: bin/depositd mismatches dispute --out FOLDER</p>`
}

export async function downloadExport({ people, user, field }: ConsoleRequest): Promise<ConsoleAnswer> {
  const person = personWho(user, 'export the books')
  const wish = exportOf(field)
  const { format, isValued, period } = wish
  return {
    download: `books-${period ?? 'all'}-${format}${isValued ? '-valued' : ''}.zip`,
    write: (archive) => people.exportBooks(person, wish, archive),
  }
}

const valuedFormats = ['hledger', 'beancount'] as const

/** As the form offers them. */
const formats = new Map<string, Omit<ConsoleExport, 'period'>>([
  ...formatNames.map((format) => [format, { format, isValued: false }] as const),
  ...valuedFormats.map((format) => [`${format}, with values`, { format, isValued: true }] as const),
])

/** @throws Fault `request_refused` */
function exportOf(field: ConsoleRequest['field']): ConsoleExport {
  const [format, period] = [formats.get(field('format')), field('period')]
  if (format === undefined) throw refused('choose a format that the form offers', 400)
  if (period !== '' && !/^\d{4}-(?:0[1-9]|1[0-2])$/.test(period))
    throw refused('give a month like 2026-01, or none', 400)
  return { ...format, period: period === '' ? null : period }
}

export function exportForm({ formToken }: ConsoleUser): Html {
  const options = [...formats.keys()].map((name) => html`<option>${name}</option>`)
  return html`<form class="act" method="post" action="/ledger/export">${hidden('form', formToken)}
<label for="format">Format</label><select id="format" name="format">${options}</select>
<label for="of-month">Month</label><input id="of-month" name="period" type="month" placeholder="2026-01" pattern="[0-9]{4}-[0-9]{2}">
<button type="submit">Download</button></form>
<p class="note">One ZIP archive, with a manifest by which anyone can check it. Without a month, all of the books. The audit log names you. By account, owner or day: bin/depositd ledger export</p>`
}
