import { type Html, html } from './html.ts'

/**
 * Paragraphs, lists, code, bold, italic: what the runbook is written in; other syntax is shown as it is. Links show
 * only their text, because they lead to files.
 */
export function markdownHtml(text: string): Html {
  const parts = text.split(/^```.*\n([^]*?)\n?^```$/m)
  return html`${parts.map((part, place) => (place % 2 === 0 ? proseHtml(part) : html`<pre>${part}</pre>`))}`
}

function proseHtml(text: string): Html {
  const blocks = text.split(/\n\s*\n/).filter((block) => block.trim() !== '')
  return html`${blocks.map(blockHtml)}`
}

function blockHtml(text: string): Html {
  const [before = '', ...items] = text.trim().split(/^- /m)
  const paragraph = before === '' ? null : html`<p>${inline(before)}</p>`
  if (items.length === 0) return html`${paragraph}`
  return html`${paragraph}<ul>${items.map((item) => html`<li>${inline(item)}</li>`)}</ul>`
}

const pieces = /(`[^`]+`|\*\*[^*]+\*\*|\*[^*\s][^*]*\*|\[[^\]]+\]\([^)]*\))/

function inline(text: string): Html {
  const line = text.trim().replaceAll(/\s*\n\s*/g, ' ')
  return html`${line.split(pieces).map(pieceOf)}`
}

/** Every second piece is marked up. */
function pieceOf(piece: string, place: number): Html | string {
  if (place % 2 === 0) return piece
  if (piece.startsWith('`')) return html`<code>${piece.slice(1, -1)}</code>`
  if (piece.startsWith('**')) return html`<strong>${piece.slice(2, -2)}</strong>`
  if (piece.startsWith('*')) return html`<em>${piece.slice(1, -1)}</em>`
  return piece.slice(1, piece.indexOf(']'))
}

/** Without the heading; empty if there is none. */
export function sectionNamed(text: string, name: string): string {
  const section = text.split(/^#{2,3} /m).find((part) => part.startsWith(`${name}\n`))
  return section?.slice(name.length).trim() ?? ''
}
