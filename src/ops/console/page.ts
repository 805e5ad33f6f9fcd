import { severities } from '../../core/mismatches/kind-entry.ts'
import {
  type Html,
  type HtmlContent,
  html,
  linkTo,
  type QueryValue,
  type ShownColumn,
  timeOf,
} from './html.ts'
import type { SectionResult } from './reader.ts'

export type ConsolePage = {
  title: string
  entry?: (typeof entries)[number][0]
  body: HtmlContent
  refreshSeconds?: number
  /** For the browser to hold. */
  token?: string
}

const entries = [
  ['/', 'Overview'],
  ['/mismatches', 'Mismatches'],
  ['/deposits', 'Deposits'],
  ['/ledger', 'Ledger'],
  ['/decisions', 'Decisions'],
  ['/addresses', 'Addresses'],
  ['/webhooks', 'Webhooks'],
  ['/services', 'Services'],
  ['/networks', 'Networks'],
  ['/people', 'People'],
] as const

/** `dashboards`: the URL of Grafana. */
export type Frame = {
  version: string
  stylePath: string
  scriptPath: string
  dashboards: string | null
  now: Date
  /** Null if the reader has not signed in. */
  person: string | null
}

/** Loads nothing from other hosts. */
export function documentOf(page: ConsolePage, { dashboards, person, ...frame }: Frame): string {
  const { title, entry, body, refreshSeconds } = page
  const refresh =
    refreshSeconds === undefined
      ? null
      : html`<meta http-equiv="refresh" content="${refreshSeconds}">
`
  const links = entries.map(
    ([path, name]) =>
      html`<li><a href="${path}"${path === entry ? html` aria-current="page"` : null}>${name}</a></li>`,
  )
  const outside = dashboards === null ? null : html`<li><a href="${dashboards}">Dashboards</a></li>`
  const you = person === null ? html`<a href="/sign-in">Sign in</a>` : html`<a href="/you">${person}</a>`
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${refresh}<title>${title} · depositd</title>
<link rel="icon" href="${iconPath}" type="image/svg+xml">
<link rel="stylesheet" href="${frame.stylePath}">
<script src="${frame.scriptPath}" type="module"></script>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="top"><a class="brand" href="/">depositd</a>
<nav aria-label="Pages"><ul>${links}${outside}</ul></nav>
<form class="find" action="/deposits/find" method="get" role="search">
<label for="reference" class="unseen">Find a deposit by its number, the id of the service, or a transaction</label>
<input id="reference" name="reference" aria-keyshortcuts="/" type="search" maxlength="200" required placeholder="Number, id or transaction" autocomplete="off" spellcheck="false">
<button type="submit">Find</button></form>
<p class="you">${you}</p></header>
<main id="main">
${body}
</main>
${keysDialog}
<footer><p>depositd ${frame.version}${person === null ? ', read only' : null}. ${timeOf(frame.now)}</p></footer>
</body>
</html>
`.text
}

const keysDialog = html`<dialog id="keys" aria-labelledby="keys-title"><h2 id="keys-title">Keys</h2>
<dl class="facts"><div><dt>1 … 9, 0</dt><dd>the pages of the menu</dd></div>
<div><dt>/</dt><dd>find a deposit</dd></div>
<div><dt>j, k</dt><dd>the next and the previous line of a list; Enter opens it</dd></div>
<div><dt>a, c, s, r, w</dt><dd>of a mismatch: assign it or give it back, comment, snooze, resolve or reopen, write off</dd></div>
<div><dt>y</dt><dd>sign, approve</dd></div>
<div><dt>?</dt><dd>this help; Esc closes it</dd></div></dl>
<form method="dialog"><button>Close</button></form></dialog>`

export const iconPath = '/console-icon.svg'

/** Two bars, level with each other. */
export const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0b6e5f"/><path d="M6 12h20M6 20h20" stroke="#fff" stroke-width="3.4" stroke-linecap="round"/></svg>`

/** Never by the colour alone. */
export function badge(tone: Tone, text: string): Html {
  return html`<span class="badge ${tone}">${text}</span>`
}

export type Tone = 'fine' | 'info' | 'warning' | 'severe' | 'quiet'

export const severityColumn: ShownColumn<{ severity: string }> = {
  title: 'SEVERITY',
  value: ({ severity }) => severity,
  show: ({ severity }) => severityBadge(severity),
}

export function severityBadge(severity: string): Html {
  return badge(severities.find((one) => one === severity) ?? 'quiet', severity)
}

const tonesOfStates: Readonly<Record<string, Tone>> = {
  observed: 'info',
  confirmed: 'info',
  settling: 'info',
  settled: 'warning',
  reconciled: 'fine',
  orphaned: 'warning',
  held: 'warning',
  failed: 'severe',
}

export function stateBadge(state: string): Html {
  return badge(tonesOfStates[state] ?? 'quiet', state)
}

export function sectionOf(title: string, ...body: readonly HtmlContent[]): Html {
  return html`<section><h2>${title}</h2>
${body}</section>
`
}

/** If a section cannot be read, the others are still shown. */
export function partHtml<Value>(part: SectionResult<Value>, show: (value: Value) => Html): Html {
  return 'problem' in part ? html`<p class="empty">Cannot be read now: ${part.problem}</p>` : show(part.value)
}

type PagerOptions = {
  path: string
  wish: { limit: number } & Readonly<Record<string, QueryValue>>
  /** The filter that names the last row of the previous page. */
  field: 'after' | 'before'
  rows: readonly { id: string }[]
}

export function pager({ path, wish, field, rows }: PagerOptions): Html | null {
  const { limit, ...query } = wish
  const last = rows.length === limit ? rows.at(-1)?.id : undefined
  const first =
    field in query ? html`<a href="${linkTo(path, { ...query, [field]: null })}">First page</a>` : null
  const next =
    last === undefined
      ? null
      : html`<a rel="next" href="${linkTo(path, { ...query, [field]: last })}">Next page</a>`
  if (first === null && next === null) return null
  return html`<nav class="pager" aria-label="Paging">${first}${next}</nav>`
}

type FilterField = {
  name: string
  label: string
  value: string | undefined
  /** Without words. */
  type?: 'date' | 'month'
  words?: readonly string[]
  /** Label of the empty choice; without it, one word is always chosen. */
  any?: string
}

export function filterForm(path: string, fields: readonly FilterField[]): Html {
  const inputs = fields.map(
    (field) => html`<div><label for="filter-${field.name}">${field.label}</label>${inputOf(field)}</div>
`,
  )
  return html`<form class="filter" action="${path}" method="get">
${inputs}<button type="submit">Show</button></form>`
}

function inputOf({ name, value, type, words, any }: FilterField): Html {
  const id = `filter-${name}`
  if (words === undefined)
    return html`<input id="${id}" name="${name}" type="${type ?? 'text'}" value="${value ?? ''}" maxlength="200" autocomplete="off" spellcheck="false">`
  const options = words.map(
    (word) =>
      html`<option value="${word}"${word === value ? html` selected` : null}>${word.replaceAll('_', ' ')}</option>`,
  )
  const none = any === undefined ? null : html`<option value="">${any}</option>`
  return html`<select id="${id}" name="${name}">${none}${options}</select>`
}
