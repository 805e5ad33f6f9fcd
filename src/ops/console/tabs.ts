import { type SavedView, type ViewPage, viewNameMax } from '../../core/saved-view.ts'
import { type Html, html, linkTo } from './html.ts'
import { hidden } from './passkey-form.ts'
import type { ConsoleUser } from './people.ts'

type Tab = [name: string, path: string]

/** The lists that people work from. */
export function caseTabs(here: string, user: ConsoleUser | null, views: readonly SavedView[] = []): Html {
  const own: Tab[] =
    user === null
      ? []
      : [
          ['Mine', linkTo('/mismatches', { assigned: user.person })],
          ['Mentions', '/mismatches/mentions'],
        ]
  const tabs: Tab[] = [
    ['All', '/mismatches'],
    ['By cause', '/mismatches/causes'],
    ...own,
    ['Unassigned', '/mismatches?assigned=nobody'],
    ['Overdue', '/mismatches?overdue=yes'],
    ['Snoozed', '/mismatches?status=snoozed'],
    ['Proposed matches', '/proposals'],
    ['Waiting for approval', '/decisions?state=waiting'],
    ...views.map(tabOf),
  ]
  return tabsHtml('Lists of mismatches', tabs, here)
}

/** Null without saved views. */
export function depositTabs(here: string, views: readonly SavedView[]): Html | null {
  if (views.length === 0) return null
  return tabsHtml('Lists of deposits', [['All', '/deposits'], ...views.map(tabOf)], here)
}

function tabOf({ page, name, query }: SavedView): Tab {
  return [name, listPath(page, query)]
}

function tabsHtml(label: string, tabs: readonly Tab[], here: string): Html {
  const links = tabs.map(
    ([name, path]) =>
      html`<li><a href="${path}"${path === here ? html` aria-current="true"` : null}>${name}</a></li>`,
  )
  return html`<nav class="tabs" aria-label="${label}"><ul>${links}</ul></nav>`
}

export function listPath(page: ViewPage, query: string): string {
  return query === '' ? `/${page}` : `/${page}?${query}`
}

const ofOnePage = ['after', 'before', 'done']

/** A list as its address names it: from the first row, without empty fields. */
export function viewQuery(search: URLSearchParams | string): string {
  const fields = [...new URLSearchParams(search)]
  const kept = fields.filter(([name, text]) => text !== '' && !ofOnePage.includes(name))
  const sorted = new URLSearchParams(kept)
  sorted.sort()
  return sorted.toString()
}

type ViewFormData = { page: ViewPage; query: string; views: readonly SavedView[]; user: ConsoleUser | null }

/** Keeps the list that is shown under a name, or removes it. Null for the whole list. */
export function viewForm({ page, query, views, user }: ViewFormData): Html | null {
  if (user === null || query === '') return null
  const saved = views.find((one) => one.query === query)
  const common = html`${hidden('form', user.formToken)}${hidden('page', page)}${hidden('filter', query)}`
  if (saved !== undefined)
    return html`<form class="act" method="post" action="/views">${common}${hidden('name', saved.name)}${hidden('action', 'remove')}
<button type="submit">Remove the view ${saved.name}</button><span class="note"> saved by ${saved.savedBy}</span></form>`
  return html`<form class="act" method="post" action="/views">${common}
<label for="view">Save this view, for everyone, as</label><input id="view" name="name" required maxlength="${viewNameMax}" autocomplete="off">
<button type="submit">Save</button></form>`
}
