import { type Html, html } from './html.ts'

/** A filter field: a choice of words or, without words, a text. */
export type FilterField = {
  name: string
  label: string
  value: string | undefined
  words?: readonly string[]
  /** Label of the empty choice; without it, one of the words is always chosen. */
  any?: string
}

/** A form that requests the same page with other filters. */
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
