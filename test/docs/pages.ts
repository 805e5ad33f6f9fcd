import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const root = join(import.meta.dirname, '../..')

/** The text of a file, by its path from the root of the checkout. */
export function readText(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

/** Every Markdown page of the project, by its path from the root. */
export function allPages(): string[] {
  const below = (folder: string) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name))
  const own = readdirSync(root).filter((name) => name.endsWith('.md'))
  return [
    ...own,
    ...['docs', 'grafana', 'bench', 'src', 'test', 'db'].flatMap((folder) => pagesOf(folder, below)),
  ]
}

function pagesOf(folder: string, below: (folder: string) => string[]): string[] {
  const isThere = readdirSync(root).includes(folder)
  return isThere ? below(folder).filter((name) => name.endsWith('.md')) : []
}
