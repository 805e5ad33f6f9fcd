import { printable } from '../../presentation/printable.ts'

/** Markup that was made here; a string is never taken for it. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

export type HtmlContent = Html | string | number | bigint | null | readonly HtmlContent[]

/** Makes markup of a template: what is put in is text and is escaped, unless it is markup itself; null is nothing. */
export function html(parts: TemplateStringsArray, ...contents: readonly HtmlContent[]): Html {
  return new Html(String.raw({ raw: parts }, ...contents.map(textOf)))
}

const longestText = 4000

/** The beginning of a text: what strangers sent may be of any length. */
export function clip(text: string, lengthMax = longestText): string {
  return text.length <= lengthMax ? text : `${text.slice(0, lengthMax)}…`
}

/** A path of this console with its query; what is null or empty is left out. */
export function linkTo(
  path: string,
  query: Readonly<Record<string, string | null | undefined>> = {},
): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== '') search.set(name, value)
  }
  return search.size === 0 ? path : `${path}?${search.toString()}`
}

function textOf(content: HtmlContent): string {
  if (content === null) return ''
  if (content instanceof Html) return content.text
  if (typeof content === 'object') return content.map(textOf).join('')
  return printable(clip(String(content))).replaceAll(/[&<>"'`]/g, (sign) => `&#${sign.charCodeAt(0)};`)
}
