import { writeOffAccounts } from '../../core/evidence.ts'
import { type AttachedFile, attachmentColumns, type MismatchDetail } from '../../presentation/mismatch.ts'
import { valueText } from '../../presentation/text.ts'
import type { SnoozeEnd } from '../../store/mismatches/cases.ts'
import type { CaseAct } from '../../store/mismatches/undo.ts'
import { type Html, type HtmlContent, html, tableOf, timeOf, whole, withShown } from './html.ts'
import { hidden } from './passkey-form.ts'
import { type ConsoleUser, may } from './people.ts'

const hourMs = 3_600_000

/** What may end a snooze instead of a time, as the form offers it. */
export const snoozeEnds: Readonly<Record<string, SnoozeEnd>> = {
  'until the loss grows': 'a larger loss',
  'until its evidence changes': 'new evidence',
}

/** How long a case may be snoozed, as the form offers it. */
export const snoozesMs: Readonly<Record<string, number>> = {
  'for 4 hours': 4 * hourMs,
  'for 1 day': 24 * hourMs,
  'for 3 days': 72 * hourMs,
  'for 1 week': 168 * hourMs,
}

/** What an operator may do; nothing of it changes the books. */
export function caseForms(
  { id, status, assigned_to: name }: MismatchDetail['mismatch'],
  user: ConsoleUser,
  names: readonly string[],
): Html {
  if (!may(user, 'work on cases')) return html`<p class="note">To work on it, you need the role operator.</p>`
  const form = (action: string, button: Html, fields: HtmlContent = null) =>
    html`<form class="act" method="post" action="/mismatches/${String(id)}">${hidden('form', user.formToken)}${hidden('action', action)}${fields}${button}</form>
`
  const isMine = typeof name === 'string' && name.toLowerCase() === user.person.toLowerCase()
  const ends =
    status === 'resolved'
      ? [form('reopened', buttonOf('Reopen'), textField('reopened', 'Why it is reopened'))]
      : [
          status === 'snoozed'
            ? form('wake', buttonOf('End the snooze', 's'))
            : form('snooze', buttonOf('Snooze'), snoozeField()),
          form('resolved', buttonOf('Resolve'), textField('resolved', 'Why it is resolved')),
        ]
  return html`<div class="acts">
${form('assign', buttonOf('Assign', isMine ? null : 'a'), assigneeField(user, names))}${isMine ? form('assign', buttonOf('Give it back', 'a'), hidden('to', '')) : null}${form('commented', buttonOf('Comment'), textField('commented', 'Comment'))}${status === 'cleared' ? null : ends}</div>`
}

function snoozeField(): Html {
  const spans = Object.keys({ ...snoozesMs, ...snoozeEnds }).map((span) => html`<option>${span}</option>`)
  return html`<label for="until">How long</label><select id="until" name="until"${keyOf('snooze')}>${spans}</select>`
}

/** A button is pressed by its key, and a field gets the focus. */
function buttonOf(label: string, key: string | null = null): Html {
  return html`<button type="submit"${key === null ? null : html` aria-keyshortcuts="${key}"`}>${label}</button>`
}

/** @param names of the people of the register */
function assigneeField({ person }: ConsoleUser, names: readonly string[]): Html {
  const others = names.filter((name) => name !== person).toSorted()
  const options = others.map((name) => html`<option value="${whole(name)}">${name}</option>`)
  return html`<label for="to">Assign to</label><select id="to" name="to"><option value="${person}">me</option>${options}<option value="">no one</option></select>`
}

const keysOfFields: Readonly<Record<string, string>> = {
  commented: 'c',
  snooze: 's',
  resolved: 'r',
  reopened: 'r',
}

function keyOf(field: string): Html | null {
  const key = keysOfFields[field]
  return key === undefined ? null : html` aria-keyshortcuts="${key}"`
}

function textField(id: string, label: string): Html {
  return html`<label for="${id}">${label}</label><input id="${id}" name="text"${keyOf(id)} required maxlength="2000" autocomplete="off">`
}

const accountTexts: Record<(typeof writeOffAccounts)[number], string> = {
  'expenses:write_off': 'an expense of ours',
  'assets:receivable:service': 'what the service owes us',
  owner: 'the loss of the customer',
}

/** Leads to the draft, which the person signs. */
export function writeOffForm({ id }: MismatchDetail['mismatch'], user: ConsoleUser): Html {
  return writeOff(
    '/decisions/draft',
    html`${hidden('form', user.formToken)}${hidden('mismatch', String(id))}`,
  )
}

/** @param filter query of the list, of which all mismatches are meant */
export function bulkForms(filter: string, user: ConsoleUser, names: readonly string[]): Html {
  const shared = html`${hidden('form', user.formToken)}${hidden('filter', filter)}`
  const form = (action: string, label: string, fields: HtmlContent = null) =>
    html`<form class="act" method="post" action="/mismatches">${shared}${hidden('action', action)}${fields}<button type="submit">${label}</button></form>
`
  return html`<div class="acts"><p class="note">At most 500 at once.</p>
${form('assign', 'Assign all', assigneeField(user, names))}${form('commented', 'Comment on all', textField('commented', 'Comment'))}${form('snooze', 'Snooze all', snoozeField())}${form('resolved', 'Resolve all', textField('resolved', 'Why they are resolved'))}
${writeOff('/mismatches', shared)}</div>`
}

function writeOff(path: string, fields: Html): Html {
  const accounts = writeOffAccounts.map(
    (account) => html`<option value="${account}">${accountTexts[account]}</option>`,
  )
  return html`<form class="act" method="post" action="${path}">${fields}${hidden('action', 'write_off')}
<label for="account">Write off as</label><select id="account" name="account" aria-keyshortcuts="w">${accounts}</select>
<label for="reason">Reason</label><input id="reason" name="reason" required maxlength="500" autocomplete="off">
<button type="submit">Prepare</button></form>`
}

/** Says what this person did just before, and offers to undo it. @param filter of the list that shows it */
export function doneForm(act: CaseAct | null, user: ConsoleUser | null, filter = ''): Html | null {
  if (act === null || user === null || act.actor.toLowerCase() !== user.person.toLowerCase()) return null
  const { mismatches, events, isUndo } = act
  const what = mismatches.length === 1 ? `Mismatch ${mismatches[0]}` : `${mismatches.length} mismatches`
  const fields = html`${hidden('form', user.formToken)}${hidden('event', String(events[0]))}${hidden('filter', filter)}`
  const undo = act.mayUndo ? html`${fields}<button type="submit">Undo</button>` : null
  return html`<form class="act" method="post" action="/mismatches/undo"><p role="status">${what}: ${isUndo ? 'undone' : doneText(act)}.</p>${undo}</form>`
}

function doneText({ action, after }: CaseAct): string {
  if (action === 'assigned')
    return after?.assigned_to == null ? 'assigned to no one' : `assigned to ${valueText(after.assigned_to)}`
  if (action !== 'snoozed') return action.replaceAll('_', ' ')
  const isAwake = after?.snoozed_until == null && after?.snooze_ends_with == null
  return isAwake ? 'no longer snoozed' : 'snoozed'
}

function attachForm(mismatch: string, { formToken }: ConsoleUser): Html {
  return html`<form class="act" method="post" enctype="multipart/form-data" action="/mismatches/${mismatch}/attachments">${hidden('form', formToken)}
<label for="file">File, at most 5 MB</label><input id="file" name="file" type="file" required>
<button type="submit">Attach</button></form>`
}

/** With a form for operators. */
export function attachmentsOf(
  { mismatch, attachments }: MismatchDetail,
  user: ConsoleUser | null,
): HtmlContent {
  const columns = withShown(attachmentColumns, {
    FILE: ({ id, name }: AttachedFile) =>
      user === null ? name : html`<a href="/attachments/${id}">${name}</a>`,
    AT: ({ at }: AttachedFile) => timeOf(at),
  })
  return [
    tableOf(attachments, { caption: 'Files', columns, empty: 'None.' }),
    user?.roles.includes('operator') ? attachForm(String(mismatch.id), user) : null,
  ]
}
