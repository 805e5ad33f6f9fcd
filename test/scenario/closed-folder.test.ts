import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { freePort } from '../../src/sandbox/free-port.ts'
import { root } from '../docs/pages.ts'
import { makeFolder } from '../support/make-folder.ts'
import { programEnvironment } from '../support/program-environment.ts'
import { shell } from '../support/shell.ts'
import { until } from '../support/until.ts'

/** The commands of the README in a checkout that only its owner can enter, as root's home is on servers. */

const nobody = 65_534
let above: string
let checkout: string

beforeAll(() => {
  above = makeFolder('depositd above ü-')
  checkout = join(above, 'check out é')
  mkdirSync(checkout)
  const names = readdirSync(root).filter((name) => !['node_modules', '.git', '.depositd'].includes(name))
  execFileSync('cp', ['-R', ...names.map((name) => join(root, name)), checkout])
  copyPackages(join(root, 'node_modules'), checkout)
})
afterAll(() => rmSync(above, { recursive: true, force: true }))

/** By links, which takes seconds, if both are on one file system. */
function copyPackages(from: string, to: string): void {
  try {
    execFileSync('cp', ['-al', from, to], { stdio: 'ignore' })
  } catch {
    execFileSync('cp', ['-a', from, to])
  }
}

describe.skipIf(process.getuid?.() !== 0)('a checkout in a folder of mode 700', () => {
  test.each([
    ['root without capabilities over files', 0, ['--bounding-set=-dac_override,-dac_read_search,-setpcap']],
    // Every system has it, and initdb wants a user with a name.
    ['an ordinary user', nobody, [`--reuid=${nobody}`, '--clear-groups']],
  ])('npm start and bin/depositd work for %s', async (_, owner, options) => {
    chmodSync(above, 0o700)
    for (const path of [above, checkout]) chownSync(path, owner, owner)
    onTestFinished(removeState)
    const environment = {
      HOME: checkout,
      HTTP_PORT: String(await freePort()),
      OPS_PORT: String(await freePort()),
    }
    const child = spawn('setpriv', [...options, 'npm', 'start'], {
      cwd: checkout,
      env: { ...programEnvironment, ...environment },
      detached: true,
    })
    let text = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (text += chunk.toString()))
    const ended = once(child, 'close')
    // A terminal signals the whole group: npm, its shell and the program.
    const signalAll = (signal: NodeJS.Signals) => void process.kill(-(child.pid ?? 0), signal)
    onTestFinished(() =>
      child.exitCode === null && child.signalCode === null ? signalAll('SIGKILL') : undefined,
    )
    await until('everything is up', () => {
      if (child.exitCode !== null) throw new Error(text)
      return text.includes('Ctrl-C stops everything') || null
    })
    const listed = await shell(`setpriv ${options.join(' ')} bin/depositd deposits list`, {
      folder: checkout,
      environment,
    })
    expect(listed).toMatchObject({ status: 0, err: '' })
    signalAll('SIGINT')
    await ended
    expect(text).toContain('"npm start" continues from here')
  })
})

/** The data may be elsewhere, behind a link. */
function removeState(): void {
  const data = join(checkout, '.depositd/postgres/data')
  if (existsSync(data)) rmSync(realpathSync(data), { recursive: true })
  rmSync(join(checkout, '.depositd'), { recursive: true, force: true })
}
