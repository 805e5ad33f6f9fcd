import { type Html, html } from './html.ts'

/**
 * Headings, paragraphs, lists, code, bold, italic; other syntax is shown as it is. Links show only their text, because
 * they lead to files.
 */
export function markdownHtml(text: string): Html {
  const blocks: Html[] = []
  const lines = text.split('\n')
  for (let at = 0; at < lines.length; ) {
    const { block, end } = blockAt(lines, at)
    if (block !== null) blocks.push(block)
    at = end
  }
  return html`${blocks}`
}

type MarkdownBlock = { block: Html | null; end: number }

function blockAt(lines: readonly string[], at: number): MarkdownBlock {
  const line = lines[at] ?? ''
  if (line.trim() === '') return { block: null, end: at + 1 }
  if (line.startsWith('```')) return codeAt(lines, at)
  const [, heading] = /^#{1,6} (.*)$/.exec(line) ?? []
  if (heading !== undefined) return { block: html`<h3>${inline(heading)}</h3>`, end: at + 1 }
  if (bullet.test(line)) return listAt(lines, at)
  const end = endOf(lines, at, (one) => isPlain(one))
  return { block: html`<p>${inline(lines.slice(at, end).join(' '))}</p>`, end }
}

const bullet = /^(?:[-*]|\d+\.) /

function codeAt(lines: readonly string[], at: number): MarkdownBlock {
  const close = endOf(lines, at + 1, (line) => !line.startsWith('```'))
  return { block: html`<pre>${lines.slice(at + 1, close).join('\n')}</pre>`, end: close + 1 }
}

function listAt(lines: readonly string[], at: number): MarkdownBlock {
  const end = endOf(lines, at, (line) => bullet.test(line) || /^ +\S/.test(line))
  const items: string[] = []
  for (const line of lines.slice(at, end)) {
    if (bullet.test(line)) items.push(line.replace(bullet, ''))
    else items.push(`${items.pop() ?? ''} ${line.trim()}`)
  }
  return { block: html`<ul>${items.map((item) => html`<li>${inline(item)}</li>`)}</ul>`, end }
}

/** The first line that does not belong, at the earliest the one after the start. */
function endOf(lines: readonly string[], from: number, belongs: (line: string) => boolean): number {
  let end = from
  while (end < lines.length && belongs(lines[end] ?? '')) end++
  return end
}

function isPlain(line: string): boolean {
  return line.trim() !== '' && !line.startsWith('```') && !bullet.test(line) && !/^#{1,6} /.test(line)
}

const pieces = /(`[^`]+`|\*\*[^*]+\*\*|\*[^*\s][^*]*\*|\[[^\]]+\]\([^)]*\))/

function inline(text: string): Html {
  return html`${text.split(pieces).map(pieceOf)}`
}

function pieceOf(piece: string): Html | string {
  if (/^`[^`]+`$/.test(piece)) return html`<code>${piece.slice(1, -1)}</code>`
  if (/^\*\*[^*]+\*\*$/.test(piece)) return html`<strong>${piece.slice(2, -2)}</strong>`
  if (/^\*[^*\s][^*]*\*$/.test(piece)) return html`<em>${piece.slice(1, -1)}</em>`
  const [, said] = /^\[([^\]]+)\]\([^)]*\)$/.exec(piece) ?? []
  return said ?? piece
}

/** Without the heading; empty if there is none. */
export function sectionNamed(text: string, name: string): string {
  const lines = text.split('\n')
  const start = lines.findIndex(
    (line) => /^#{2,6} /.test(line) && line.replace(/^#+ +/, '').replaceAll('`', '').trim() === name,
  )
  if (start === -1) return ''
  const level = /^#+/.exec(lines[start] ?? '')?.[0].length ?? 0
  let isCode = false
  const end = endOf(lines, start + 1, (line) => {
    if (line.startsWith('```')) isCode = !isCode
    const depth = /^(#+) /.exec(line)?.[1]?.length
    return isCode || depth === undefined || depth > level
  })
  return lines
    .slice(start + 1, end)
    .join('\n')
    .trim()
}
