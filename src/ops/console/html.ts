import { printable } from '../../presentation/text.ts'

/** Trusted markup, made by `html`. A string is never taken for markup. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

export type HtmlContent = Html | string | number | bigint | null | readonly HtmlContent[]

/** Makes markup from a template. Contents are escaped unless they are markup; null adds nothing. */
export function html(parts: TemplateStringsArray, ...contents: readonly HtmlContent[]): Html {
  return new Html(String.raw({ raw: parts }, ...contents.map(textOf)))
}

const longestText = 4000

/** Shortens a text, because text from outside may have any length. */
export function clip(text: string, lengthMax = longestText): string {
  return text.length <= lengthMax ? text : `${text.slice(0, lengthMax)}…`
}

/** A path of the console with its query. Null and empty fields are left out. */
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
