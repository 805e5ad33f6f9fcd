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
  /** Its folder of migrations. */
  migrations: string
  commit: string
}

/** The last one whose newest migration is 0031, the first after which migrations are held to what they may do. */
const olderCommit = 'efb8e3f16ae5633010f93504844d7610e9246610'

/**
 * An older version of the program, in that folder, with the packages of today.
 * @returns null where the history does not reach so far: in a shallow clone, or none at all
 */
export async function olderProgram(folder: string): Promise<OlderProgram | null> {
  if (!(await isInHistory())) return null
  await mkdir(folder, { recursive: true })
  const archive = join(folder, 'program.tar')
  const there = await filesOf(olderCommit)
  const wanted = needed.filter((name) => there.has(name))
  await run('git', ['archive', '--format=tar', `--output=${archive}`, olderCommit, ...wanted], { cwd: root })
  await run('tar', ['-xf', archive, '-C', folder])
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  return { main: join(folder, 'src/main.ts'), migrations: join(folder, 'db/migrations'), commit: olderCommit }
}

async function isInHistory(): Promise<boolean> {
  try {
    await git('cat-file', '-e', `${olderCommit}^{commit}`)
    return true
  } catch {
    return false
  }
}

async function filesOf(commit: string): Promise<ReadonlySet<string>> {
  return new Set((await git('ls-tree', '--name-only', commit)).split('\n'))
}

async function git(...words: readonly string[]): Promise<string> {
  const { stdout } = await run('git', words, { cwd: root })
  return stdout.trim()
}
