import { execFile } from 'node:child_process'
import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')
const needed = ['src', 'db', 'docs', 'profiles', 'package.json']

export type OlderProgram = {
  /** Its command line. */
  main: string
  /** Its folder of migrations: all of ours but the newest. */
  migrations: string
  commit: string
}

/**
 * The program as it was before the newest migration that is committed, in that folder, with the packages of today.
 * @returns null where the history does not reach so far: in a shallow clone, or none at all
 */
export async function olderProgram(folder: string): Promise<OlderProgram | null> {
  const commit = await commitBeforeNewest()
  if (commit === null) return null
  await mkdir(folder, { recursive: true })
  const archive = join(folder, 'program.tar')
  const there = await filesOf(commit)
  const wanted = needed.filter((name) => there.has(name))
  await run('git', ['archive', '--format=tar', `--output=${archive}`, commit, ...wanted], { cwd: root })
  await run('tar', ['-xf', archive, '-C', folder])
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  return { main: join(folder, 'src/main.ts'), migrations: join(folder, 'db/migrations'), commit }
}

async function commitBeforeNewest(): Promise<string | null> {
  try {
    const added = await git('log', '--diff-filter=A', '--format=%H', '-1', '--', 'db/migrations')
    return added === '' ? null : await git('rev-parse', '--verify', '--quiet', `${added}^`)
  } catch {
    return null
  }
}

async function filesOf(commit: string): Promise<ReadonlySet<string>> {
  return new Set((await git('ls-tree', '--name-only', commit)).split('\n'))
}

async function git(...words: readonly string[]): Promise<string> {
  const { stdout } = await run('git', words, { cwd: root })
  return stdout.trim()
}
