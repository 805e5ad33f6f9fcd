import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ReadinessReport } from '../../src/ops/readiness.ts'
import { freePort, loopback } from '../../src/sandbox/free-port.ts'
import { runCommand } from '../support/command.ts'
import type { Finding } from '../support/doctor-world.ts'
import { type EmbeddedProgram, spawnProgram } from '../support/embedded-program.ts'
import { redisInstalled, startRedis } from '../support/redis.ts'
import { until } from '../support/until.ts'
import { startWorld, type World } from '../support/world.ts'

const withinMs = 120_000

const stack = new AsyncDisposableStack()
let folder: string
let world: World
let http: Program
let worker: Program

/** Two programs as the compose file starts them: one takes webhooks, the other does everything else. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'depositd-apart-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  const redis = redisInstalled() ? await startRedis() : null
  stack.defer(() => redis?.stop())
  world = await startWorld({ networks: ['base', 'arbitrum'], ...(redis && { queueUrl: redis.url }) }, stack)
  await world.daemon.stop()
  const two = await Promise.all(['http', 'worker,scheduler'].map(start))
  ;[http = http, worker = worker] = two
})
afterAll(async () => {
  for (const { program } of [http, worker]) await program.end('SIGKILL')
  await stack.disposeAsync()
})

type Program = { program: EmbeddedProgram; ops: string; environment: Record<string, string> }

async function start(roles: string): Promise<Program> {
  const environment = { ...world.environment, OPS_HOST: loopback, OPS_PORT: String(await freePort()) }
  const program = spawnProgram(folder, ['start', '--roles', roles], environment)
  return { program, environment, ops: `http://${loopback}:${environment.OPS_PORT}` }
}

async function readiness({ ops }: Program): Promise<(ReadinessReport & { status: number }) | null> {
  const response = await fetch(`${ops}/readyz`).catch(() => null)
  return response && { status: response.status, ...((await response.json()) as ReadinessReport) }
}

const isReady = async (program: Program) => ((await readiness(program))?.status === 200 ? true : null)

test('both start at once, and a deposit goes the whole way through the two of them', async () => {
  for (const program of [http, worker]) await until('it is ready', () => isReady(program), withinMs)
  const tx = await world.pay({ network: 'base', symbol: 'USDC', owner: 'savings', amount: '5' })
  await until(
    'the deposit is reconciled, its webhook included',
    async () => {
      const row = await world.db
        .selectFrom('deposit')
        .select(['state', 'webhook_at'])
        .where('tx', '=', tx)
        .executeTakeFirst()
      return row?.state === 'reconciled' && row.webhook_at !== null ? true : null
    },
    withinMs,
  )
})

test('beside them doctor finds nothing that is not well', async () => {
  const { out } = await runCommand('doctor --json', worker.environment)
  const { checks: findings } = JSON.parse(out) as { checks: Finding[] }
  expect(findings.filter(({ state }) => state === 'fault')).toEqual([])
  expect(findings.filter(({ check }) => check.startsWith('port'))).toMatchObject([
    { says: expect.stringMatching(/^depositd answers on/) },
    { says: expect.stringMatching(/^depositd answers on/) },
  ])
  expect(findings.find(({ check }) => check === 'final base')?.says).toMatch(/^height \d+; read up to \d+$/)
})

test('each logs JSON lines that hold no secret', () => {
  const { SERVICE_API_KEY = '', WEBHOOK_SECRETS = '', DATABASE_URL = '' } = world.environment
  const secrets = [SERVICE_API_KEY, WEBHOOK_SECRETS, new URL(DATABASE_URL).password]
  expect(secrets).not.toContain('')
  for (const { program } of [http, worker]) {
    const lines = program.output().trim().split('\n')
    expect(lines.length).toBeGreaterThan(1)
    for (const line of lines) expect(() => JSON.parse(line) as unknown).not.toThrow()
    for (const secret of secrets) expect(program.output()).not.toContain(secret)
  }
})

test('without the worker webhooks are still taken, and both say what is missing', async () => {
  expect(await worker.program.end('SIGTERM')).toBe(0)
  // As if it had been gone for long; where all went fast, it has given no sign of life yet.
  await sql`
    insert into stream (name, succeeded_at)
    select name, now() - interval '2 minutes' from unnest(array['scheduler', 'worker']) as name
    on conflict (name) do update set succeeded_at = excluded.succeeded_at`.execute(world.db)
  const answer = await readiness(http)
  expect(answer?.warnings.map(({ part }) => part)).toEqual(['scheduler', 'worker'])
  expect(answer).toMatchObject({ status: 200, ready: true, unready: [] })
  expect(await http.program.end('SIGTERM')).toBe(0)
})

test('every error of the settings is named at once, with exit status 2', async () => {
  const { RPC_BASE: _, ...others } = world.environment
  const bad = { ...others, RPC_BASS: 'http://127.0.0.1:1', HTTP_PORT: '80a', WEBHOOK_SECRETS: '' }
  const refused = spawnProgram(folder, ['start'], bad)
  expect(await refused.ended).toBe(2)
  for (const name of ['RPC_BASS', 'HTTP_PORT', 'WEBHOOK_SECRETS']) expect(refused.output()).toContain(name)
  expect(refused.output()).not.toContain('    at ')
})
