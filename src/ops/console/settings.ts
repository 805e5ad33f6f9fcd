import type { StoredRuleSet } from '../../store/streams.ts'
import { factsOf, type Html, html, type ShownColumn, tableOf, timeOf, whole } from './html.ts'
import { type ConsolePage, sectionOf } from './page.ts'
import { hidden } from './passkey-form.ts'
import { type ConsoleUser, mayRequest } from './people.ts'
import type { ConsoleSettings } from './reader.ts'

/** The rules as decisions use them, and what the daemon works with. */
export function settingsPage(
  { rules, isWaiting, services, others }: ConsoleSettings,
  user: ConsoleUser,
): ConsolePage {
  const [active, ...earlier] = rules
  const body = html`<p class="crumbs"><a href="/services">Services</a></p>
<h1>Active settings</h1>
<p class="note">Those of the daemon that shows this page, without secrets. Change them in the settings file and the environment; bin/depositd reconcile --policy FILE --dry-run shows what another policy would change.</p>
${isWaiting ? waitingHtml(user) : null}
${sectionOf('Rules', active === undefined ? noRules : rulesHtml(active))}
${earlier.length === 0 ? null : sectionOf('Earlier rules', earlierHtml(earlier))}
${sectionOf('Services', tableOf(services, { caption: 'Services and how they sign', columns: serviceColumns, empty: 'None.' }))}
${sectionOf('Other settings', factsOf(others))}`
  return { title: 'Active settings', entry: '/services', body }
}

const noRules = html`<p class="empty">No rules are active yet. A daemon activates those of its settings when it starts.</p>`

function waitingHtml(user: ConsoleUser): Html {
  const form = html`<form class="act" method="post" action="/settings">${hidden('form', user.formToken)}
<button type="submit">Prepare its approval</button></form>`
  return html`<p class="problem">The policy of the settings is not active yet: an administrator requests its approval, and a second person approves it.</p>
${mayRequest(user, 'policy') ? form : null}`
}

function rulesHtml(active: StoredRuleSet): Html {
  const { id, since, rules } = active
  return html`<p>Rule set ${id}, active since ${timeOf(since)}, ${approvalOf(active)}: policy, routes, contra accounts and senders, by which every deposit is decided, and the limits of one person.</p>
<pre tabindex="0">${whole(JSON.stringify(JSON.parse(rules), null, 2))}</pre>`
}

function earlierHtml(earlier: readonly StoredRuleSet[]): Html {
  return html`${tableOf(earlier, { caption: 'The newest first', columns: ruleSetColumns, empty: '' })}
<p class="note">The view accounting.rule_sets has their text.</p>`
}

function approvalOf({ requestedBy, approvedBy, decision }: StoredRuleSet): Html {
  const people = [requestedBy, approvedBy].filter((name) => name !== null).join(' and ')
  if (decision === null) return html`not signed${people === '' ? '' : `, by ${people}`}`
  return html`signed by ${people} in <a href="/decisions/${decision}">decision ${decision}</a>`
}

const ruleSetColumns: readonly ShownColumn<StoredRuleSet>[] = [
  { title: 'ID', value: ({ id }) => id, align: 'right' },
  { title: 'SINCE', value: ({ since }) => since.toISOString(), show: ({ since }) => timeOf(since) },
  { title: 'APPROVAL', value: ({ decision }) => `${decision ?? ''}`, show: approvalOf },
]

const serviceColumns: readonly ShownColumn<ConsoleSettings['services'][number]>[] = [
  { title: 'NAME', value: ({ name }) => name },
  { title: 'HOST', value: ({ host }) => host },
  { title: 'PROFILE', value: ({ profile }) => profile },
  { title: 'SIGNING SCHEME', value: ({ signing }) => signing },
  { title: 'PAUSED', value: ({ isPaused }) => (isPaused ? 'yes' : 'no') },
]
