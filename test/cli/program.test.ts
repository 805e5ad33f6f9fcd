import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { freePort } from '../../src/sandbox/free-port.ts'
import { identifyProcess } from '../../src/sandbox/processes.ts'
import { temporaryFolder } from '../support/folder.ts'
import { emptyDatabase, type TestDatabase } from '../support/postgres.ts'
import { programEnvironment } from '../support/program-environment.ts'
import { makeSecret } from '../support/sign-webhook.ts'
import { until } from '../support/until.ts'

/** The files in `bin/`, as a shell or a supervisor starts them. */

const bin = join(import.meta.dirname, '../../bin')
const shellProgram = [join(bin, 'depositd')]
/** This Node, which says that it is older until it starts the installed one. */
const onOlderNode = [
  process.execPath,
  '--import',
  'data:text/javascript,Object.defineProperty(process.versions,"node",{value:"20.0.0"})',
  join(bin, 'depositd.js'),
]
const programs = [
  ['bin/depositd', shellProgram],
  ['bin/depositd.js on an older Node', onOlderNode],
] as const

let database: TestDatabase
beforeAll(async () => {
  database = await emptyDatabase()
})
afterAll(() => database.drop())

type Started = { child: ChildProcess; output: () => string; ended: Promise<[number | null, string | null]> }

function start(command: readonly string[], words: readonly string[], environment = {}): Started {
  const [file = '', ...first] = command
  const child = spawn(file, [...first, ...words], { env: { ...programEnvironment, ...environment } })
  onTestFinished(() => void child.kill('SIGKILL'))
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (text += chunk.toString()))
  const ended = once(child, 'close') as Promise<[number | null, string | null]>
  return { child, output: () => text, ended }
}

/** The daemon for webhooks alone, once it has started, and the process that it is. */
async function startDaemon(command: readonly string[]): Promise<Started & { daemonPid: number }> {
  const started = start(command, ['start', '--roles', 'http'], {
    DATABASE_URL: database.url,
    SERVICE_URL: 'http://127.0.0.1:1',
    SERVICE_API_KEY: 'key',
    WEBHOOK_SECRETS: makeSecret(),
    RPC_BASE: 'http://127.0.0.1:1',
    HTTP_HOST: '127.0.0.1',
    HTTP_PORT: String(await freePort()),
    OPS_PORT: String(await freePort()),
  })
  const line = await until('the daemon has started', () => {
    if (started.output().includes('depositd: ')) throw new Error(started.output())
    return /^.*"msg":"started".*$/m.exec(started.output())?.[0] ?? null
  })
  return { ...started, daemonPid: (JSON.parse(line) as { pid: number }).pid }
}

test('bin/depositd can be reached over a link from another folder', async () => {
  const link = join(await temporaryFolder(), 'depositd')
  await symlink(join(bin, 'depositd'), link)
  const { ended, output } = start([link], ['--version'])
  expect(await ended).toEqual([0, null])
  expect(output()).toMatch(/^\d+\.\d+\.\d+\n$/)
})

test('what a command does not need is not loaded at the start', () => {
  const reportLoaded = `import { registerHooks } from 'node:module'
    const urls = []
    registerHooks({ load: (url, context, next) => (urls.push(url), next(url, context)) })
    process.on('exit', () => console.error(urls.join('\\n')))`
  const { stderr } = spawnSync(
    process.execPath,
    [
      '--import',
      `data:text/javascript,${encodeURIComponent(reportLoaded)}`,
      join(bin, 'depositd.js'),
      '--help',
    ],
    { encoding: 'utf8' },
  )
  const packages = stderr.matchAll(/node_modules\/((?:@[^/]+\/)?[^/]+)/g)
  expect(new Set(Array.from(packages, ([, name]) => name))).toEqual(new Set(['commander']))
})

describe.each(programs)('%s', (_, command) => {
  test('on SIGHUP the daemon reads its secrets again; on SIGTERM it drains and ends with status 0', async () => {
    const { child, daemonPid, ended, output } = await startDaemon(command)
    // A supervisor of bin/depositd watches the daemon itself.
    if (command === shellProgram) expect(daemonPid).toBe(child.pid)
    child.kill('SIGHUP')
    await until('it has read them', () => output().includes('"change":"unchanged"') || null)
    child.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
    expect(output()).toContain('"msg":"stopped"')
  })

  test('on SIGINT the daemon ends with status 0', async () => {
    const { child, ended } = await startDaemon(command)
    child.kill('SIGINT')
    expect(await ended).toEqual([0, null])
  })

  test('the exit status of a command is returned', async () => {
    expect(await start(command, ['no-such-command']).ended).toEqual([2, null])
  })

  test('a signal that ends the daemon is returned', async () => {
    const { daemonPid, ended } = await startDaemon(command)
    process.kill(daemonPid, 'SIGKILL')
    expect(await ended).toEqual([null, 'SIGKILL'])
  })
})

test('the daemon ends when the older Node that started it is killed', async () => {
  const { child, daemonPid } = await startDaemon(onOlderNode)
  child.kill('SIGKILL')
  await until('the daemon has ended', () => identifyProcess(daemonPid) === null || null)
})
