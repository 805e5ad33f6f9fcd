import { mkdirSync, writeFileSync } from 'node:fs'
import { glob, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { pino } from 'pino'
import { endLeftover, identifyProcess } from '../../src/sandbox/processes.ts'

// A run that is killed by SIGKILL ends nothing. Its folder says whose it is and what was started in it, so that the next
// run ends that, and no process that merely looks like it.

const prefix = 'depositd-chaos-'
const folderOfWorld = /^depositd-chaos-[A-Za-z0-9]{6}$/
const owner = 'owner.json'
const log = pino({ level: 'silent' })

type Identified = { pid: number; identity: string | null }

/** How the folders of worlds begin. */
export const worldPrefix = (): string => join(tmpdir(), prefix)

/** The folder is this process's: while it lives, nobody else ends what is in it. */
export function ownFolder(folder: string): void {
  writeFileSync(
    join(folder, owner),
    JSON.stringify({ pid: process.pid, identity: identifyProcess(process.pid) }),
  )
}

/** As the program's own sandbox records what it starts, for what is started otherwise. */
export function recordProcess(folder: string, pid: number): void {
  const identity = identifyProcess(pid)
  if (identity === null) return
  mkdirSync(folder, { recursive: true })
  const record = JSON.stringify({ pid, identity, stopSignal: 'SIGTERM' })
  writeFileSync(join(folder, `started-${pid}.process.json`), record)
}

/**
 * Ends what earlier runs left that were killed, and removes their folders.
 * @returns the folders
 */
export async function endLeftovers(parent = tmpdir()): Promise<string[]> {
  const names = (await readdir(parent)).filter((name) => folderOfWorld.test(name))
  const ended: string[] = []
  for (const name of names) {
    const folder = join(parent, name)
    if (!(await isAbandoned(folder))) continue
    await endAllIn(folder)
    await rm(folder, { recursive: true, force: true })
    ended.push(folder)
  }
  return ended
}

/** False also where nobody says whose it is. */
async function isAbandoned(folder: string): Promise<boolean> {
  const text = await readFile(join(folder, owner), 'utf8').catch(() => null)
  if (text === null) return false
  const { pid, identity } = JSON.parse(text) as Identified
  return identifyProcess(pid) !== identity
}

async function endAllIn(folder: string): Promise<void> {
  const endings: Promise<unknown>[] = []
  for await (const path of glob('**/*.process.json', { cwd: folder })) {
    const record = join(folder, path)
    endings.push(endLeftover(dirname(record), basename(record, '.process.json'), log))
  }
  await Promise.all(endings)
}
