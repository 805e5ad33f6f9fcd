import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type EmbeddedProgram, spawnProgram } from '../support/embedded-program.ts'
import { redisInstalled, startRedis } from '../support/redis.ts'
import { until } from '../support/until.ts'
import { startWorld, type World } from '../support/world.ts'

const withinMs = 120_000

const stack = new AsyncDisposableStack()
let folder: string
let world: World
let program: EmbeddedProgram | null = null

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'depositd-alone-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  const redis = redisInstalled() ? await startRedis() : null
  stack.defer(() => redis?.stop())
  world = await startWorld(redis === null ? {} : { queueUrl: redis.url }, stack)
  await world.daemon.stop()
  program = spawnProgram(folder, ['start'], world.environment)
})
afterAll(async () => {
  await program?.end('SIGKILL')
  await stack.disposeAsync()
})

test('with servers of others set, the program is the daemon alone and does the whole work', async () => {
  await until('it is ready', () => isReady(world), withinMs)
  const tx = await world.pay({ network: 'base', symbol: 'USDC', owner: 'payroll', amount: '5' })
  await until('the deposit is reconciled', () => isReconciled(world, tx), withinMs)
})

test('it logs JSON lines that hold no secret', () => {
  const lines = programOutput().trim().split('\n')
  expect(lines.length).toBeGreaterThan(0)
  for (const line of lines) expect(() => JSON.parse(line) as unknown).not.toThrow()
  const { SERVICE_API_KEY = '', WEBHOOK_SECRETS = '', DATABASE_URL = '' } = world.environment
  for (const secret of [SERVICE_API_KEY, WEBHOOK_SECRETS, new URL(DATABASE_URL).password]) {
    expect(secret).not.toBe('')
    expect(programOutput()).not.toContain(secret)
  }
})

test('asked to end, it ends by itself', async () => {
  expect(await program?.end('SIGTERM')).toBe(0)
})

test('every fault of its settings is named at once, on a line of its own, with exit status 2', async () => {
  const { RPC_BASE: _, ...others } = world.environment
  const bad = { ...others, RPC_BASS: 'http://127.0.0.1:1', HTTP_PORT: '80a', WEBHOOK_SECRETS: '' }
  const refused = spawnProgram(folder, ['start'], bad)
  expect(await refused.ended).toBe(2)
  for (const name of ['RPC_BASS', 'HTTP_PORT', 'WEBHOOK_SECRETS']) expect(refused.output()).toContain(name)
  expect(refused.output()).not.toContain('    at ')
})

function programOutput(): string {
  return program?.output() ?? ''
}

async function isReady({ settings }: World): Promise<true | null> {
  const answer = await fetch(`http://127.0.0.1:${settings.ops.port}/readyz`).catch(() => null)
  return answer?.status === 200 || null
}

async function isReconciled({ db }: World, tx: string): Promise<true | null> {
  const row = await db.selectFrom('deposit').select('state').where('tx', '=', tx).executeTakeFirst()
  return row?.state === 'reconciled' || null
}
