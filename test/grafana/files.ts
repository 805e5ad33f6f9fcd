import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')

/** Where a file lies, named from the root of the project. */
export function pathOf(file: string): string {
  return join(root, file)
}

export function textOf(file: string): string {
  return readFileSync(pathOf(file), 'utf8')
}

/** All that is wrong with any of them, after its name. */
export function findings<One extends { name: string }>(
  all: readonly One[],
  faultsOf: (one: One) => readonly unknown[],
): string[] {
  return all.flatMap((one) => faultsOf(one).map((fault) => `${one.name}: ${String(fault)}`))
}

/** The level-three headings of the runbook, with the text below each, by the anchor a link to it has. */
export function runbookSections(): Map<string, string> {
  const parts = textOf('docs/runbook.md').split(/^### /m).slice(1)
  return new Map(
    parts.map((part) => {
      const [heading = '', ...lines] = part.split('\n')
      return [heading.toLowerCase().replaceAll(' ', '-'), lines.join('\n').split(/^## /m)[0] ?? '']
    }),
  )
}
