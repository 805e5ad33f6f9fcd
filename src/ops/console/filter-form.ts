import { type Html, html } from './html.ts'

/** A field of a filter: one of a few words, or a text where there are none. */
export type FilterField = {
  name: string
  label: string
  value: string | undefined
  words?: readonly string[]
  /** What it is called that nothing is chosen; without it, one of the words always is. */
  any?: string
}

/** A form that asks for the same page by other filters. */
export function filterForm(path: string, fields: readonly FilterField[]): Html {
  const inputs = fields.map(
    (field) => html`<div><label for="filter-${field.name}">${field.label}</label>${inputOf(field)}</div>
`,
  )
  return html`<form class="filter" action="${path}" method="get">
${inputs}<button type="submit">Show</button></form>`
}

function inputOf({ name, value, words, any }: FilterField): Html {
  const id = `filter-${name}`
  if (words === undefined)
    return html`<input id="${id}" name="${name}" value="${value ?? ''}" maxlength="200" autocomplete="off" spellcheck="false">`
  const options = words.map(
    (word) =>
      html`<option value="${word}"${word === value ? html` selected` : null}>${word.replaceAll('_', ' ')}</option>`,
  )
  const none = any === undefined ? null : html`<option value="">${any}</option>`
  return html`<select id="${id}" name="${name}">${none}${options}</select>`
}
