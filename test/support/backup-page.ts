import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { readText } from '../docs/pages.ts'
import { fences } from './markdown.ts'

/** What docs/operations.md has people write, below a heading of its chapter on backups. */
export function blocksBelow(heading: string): string[] {
  const [, below = ''] = readText('docs/operations.md').split(`\n### ${heading}\n`)
  // Those of a list are indented.
  const blocks = fences((below.split(/\n#{2,3} /)[0] ?? '').replaceAll(/^ {3}/gm, ''))
  return blocks.map(({ text: lines }) => lines)
}

/** The file of services that the page has people make, with one section per URL. */
export function writeServices(folder: string, services: Readonly<Record<string, string>>): void {
  const sections = Object.entries(services).map(([name, url]) => {
    const { hostname, port, pathname, username, password } = new URL(url)
    const fields = { host: hostname, port, dbname: pathname.slice(1), user: username, password }
    return `[${name}]\n${Object.entries(fields)
      .map(([field, value]) => `${field}=${value}\n`)
      .join('')}`
  })
  writeFileSync(join(folder, 'services'), sections.join('\n'), { mode: 0o600 })
}

/**
 * Runs lines of the page in a folder with a file of services. Without a terminal, what asks for a password takes it from
 * the input.
 * @throws Error with all that was printed, where a line fails
 */
export async function runLines(lines: string, folder: string, password = ''): Promise<void> {
  const child = spawn('bash', ['-euo', 'pipefail', '-c', lines], {
    cwd: folder,
    detached: true,
    env: { PATH: process.env.PATH, HOME: folder, PGSERVICEFILE: join(folder, 'services') },
  })
  child.stdin.on('error', () => undefined).end(`${password}\n${password}\n`)
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on('close', resolve).on('error', reject)
  })
  const [out, err, status] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  if (status !== 0) throw new Error(`${lines}\nended with ${status}: ${out}${err}`)
}
