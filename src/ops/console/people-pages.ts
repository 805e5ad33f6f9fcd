import { type Person, personNameForm } from '../../people/decision.ts'
import { personRoles } from '../../people/roles.ts'
import type { AuditLine } from '../../store/sessions.ts'
import { draftsOf } from './decision-routes.ts'
import { refused } from './forms.ts'
import { type Html, type HtmlContent, html, type ShownColumn, tableOf, timeOf } from './html.ts'
import { type ConsolePage, sectionOf } from './page.ts'
import { hidden } from './passkey-form.ts'
import { type ConsoleInvitation, type ConsoleUser, may, mayRequest, requesterOf } from './people.ts'
import type { ConsoleAnswer, ConsoleRequest } from './request.ts'

type PeoplePageData = {
  people: readonly Person[]
  /** Null if the reader may not see them. */
  log: readonly AuditLine[] | null
  invitations: readonly ConsoleInvitation[]
  user: ConsoleUser | null
}

export function peoplePage({ people, log, invitations, user }: PeoplePageData): ConsolePage {
  const body = html`<h1>People</h1>
<p class="note">Who decides, by signed decisions of administrators.${may(user, 'make tokens') ? html` Programs read the API with <a href="/tokens">tokens</a>.` : null}</p>
${tableOf(people, { caption: 'People, their roles and keys', columns: personColumns, empty: 'No people yet. The first one enters with: bin/depositd people add NAME --roles administrator' })}
${mayRequest(user, 'person') ? peopleForms(user, people, invitations) : null}
${log === null ? null : sectionOf('What they did', tableOf(log, { caption: 'The newest of the audit log', columns: logColumns, empty: 'None yet. Sign-ins, exports, decisions and work on cases appear here.' }))}`
  return { title: 'People', entry: '/people', body }
}

const personColumns: ShownColumn<Person>[] = [
  { title: 'NAME', value: ({ person }) => person },
  { title: 'ROLES', value: ({ roles }) => roles.join(', ') },
  {
    title: 'SIGNS WITH',
    value: ({ keys }) => {
      const passkeys = keys.filter((key) => key.startsWith('passkey ')).length
      return `passkeys: ${passkeys}; key files: ${keys.length - passkeys}`
    },
  },
]

const logColumns: ShownColumn<AuditLine>[] = [
  { title: 'AT', value: ({ at }) => at.toISOString(), show: ({ at }) => timeOf(at) },
  { title: 'PERSON', value: ({ person, login }) => person ?? (login === null ? '' : `login ${login}`) },
  { title: 'DID', value: ({ action }) => action.replaceAll('_', ' ') },
  { title: 'ABOUT', value: ({ detail }) => detail ?? '' },
]

function peopleForms(
  { formToken }: ConsoleUser,
  people: readonly Person[],
  invitations: readonly ConsoleInvitation[],
): Html {
  const form = (action: string, fields: HtmlContent, label: string) =>
    html`<form class="act" method="post" action="/people">${hidden('form', formToken)}${hidden('action', action)}${fields}<button type="submit">${label}</button></form>
`
  const names = people.map(({ person }) => html`<option>${person}</option>`)
  const confirm: ShownColumn<ConsoleInvitation> = {
    title: 'CONFIRM',
    value: ({ code }) => code ?? '',
    show: ({ person, code }) =>
      code === null
        ? 'has made no passkey yet'
        : form('confirm', hidden('person', person), `They read ${code} to me`),
  }
  return html`${sectionOf(
    'Invite',
    html`<p class="note">They get a link, make a passkey with it, and read its code to you. Also for another passkey of a person.</p>
${form('invite', html`<label for="invited">Name</label><input id="invited" name="person" required maxlength="100" autocomplete="off" spellcheck="false">${rolesField('invited')}`, 'Invite')}`,
    invitations.length === 0
      ? null
      : tableOf(invitations, {
          caption: 'Invitations, which end in a day',
          columns: [...invitationColumns, confirm],
          empty: '',
        }),
  )}
${sectionOf(
  'Change',
  form(
    'change',
    html`<label for="changed">Person</label><select id="changed" name="person">${names}</select>${rolesField('changed')}`,
    'Prepare the change of roles',
  ),
  form(
    'remove',
    html`<label for="removed">Person</label><select id="removed" name="person">${names}</select>`,
    'Prepare the removal',
  ),
)}`
}

function rolesField(form: string): Html {
  const boxes = personRoles.map(
    (role) =>
      html`<label><input type="checkbox" name="role-${role}" value="yes"> ${role}</label>
`,
  )
  return html`<fieldset id="roles-${form}"><legend>Roles</legend>${boxes}</fieldset>`
}

const invitationColumns: ShownColumn<ConsoleInvitation>[] = [
  { title: 'NAME', value: ({ person }) => person },
  { title: 'ROLES', value: ({ roles }) => roles.join(', ') },
]

/** What administrators do with people; all but an invitation is a decision that they sign. */
export async function changePeople({ people, user, field }: ConsoleRequest): Promise<ConsoleAnswer> {
  const administrator = requesterOf(user, 'person')
  const [action, person] = [field('action'), field('person')]
  const roles = personRoles.filter((role) => field(`role-${role}`) !== '')
  if (action !== 'invite')
    return draftsOf(people, administrator, [await people.personOf({ action, person, roles })])
  if (!personNameForm.test(person))
    throw refused('use letters, digits, ".", "_", "@" and "-" for the name, at most 100 of them', 400)
  if (roles.length === 0) throw refused('choose a role', 400)
  return invitedPage(person, await people.invite(administrator, { person, roles }))
}

function invitedPage(person: string, link: string): ConsolePage {
  const body = html`<p class="crumbs"><a href="/people">People</a></p>
<h1>${person} is invited</h1>
<p>Give ${person} this link. It is shown once, and ends in a day:</p>
<pre>${link}</pre>
<p>They make a passkey with it, and read its code to you. Then confirm it on <a href="/people">People</a>.</p>`
  return { title: 'Invitation', entry: '/people', body }
}
