/** A table in Markdown. A bar inside a cell would end it, so it is escaped. */
export function markdownTable(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('')
}

function line(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`
}

/** The first column of every table of a page, without code marks, with the other cells of its row. */
export function tableRows(text: string): { name: string; cells: string[] }[] {
  const rows = withoutFences(text)
    .split('\n')
    .filter((row) => row.startsWith('| `'))
  return rows.map((source) => {
    const [first = '', ...cells] = source
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim())
    return { name: first.replaceAll('`', ''), cells }
  })
}

export type Fence = { language: string; text: string }

/** The fenced blocks of a page, in order. */
export function fences(text: string): Fence[] {
  return [...text.matchAll(fencePattern)].map(([, language = '', body = '']) => ({ language, text: body }))
}

export function withoutFences(text: string): string {
  return text.replaceAll(fencePattern, '')
}

/** The anchors of a page's headings, as GitHub makes them. */
export function anchors(text: string): Set<string> {
  const headings = [...withoutFences(text).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) => heading)
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .trim()
        .replaceAll(' ', '-'),
    ),
  )
}

/** The targets of a page's links. */
export function links(text: string): string[] {
  const prose = withoutFences(text).replaceAll(/`[^`]*`/g, '')
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target)
}

const fencePattern = /^```(\w*)\n([\s\S]*?)^```$/gm
