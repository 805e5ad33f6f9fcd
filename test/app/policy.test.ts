import { readFileSync } from 'node:fs'
import { sql } from 'kysely'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startDaemon } from '../../src/app/daemon.ts'
import { parseSettings } from '../../src/config/settings.ts'
import { freePort, loopback } from '../../src/sandbox/free-port.ts'
import { waitingRules } from '../../src/store/streams.ts'
import { runCommand } from '../support/command.ts'
import { addPeople, runDecided, signingKeys } from '../support/people.ts'
import { policyWorld, settingsText, settled } from '../support/policy-world.ts'
import { until } from '../support/until.ts'

let world: Awaited<ReturnType<typeof policyWorld>>
beforeEach(async () => {
  world = await policyWorld()
})
afterEach(() => world[Symbol.asyncDispose]())

const often = `schedule: { sweep: '* * * * * *' }\n`
const tolerant = `${settingsText}${often}policy:
  routes:
    - match: { asset: { in: base/USDC, out: arbitrum/USDC } }
      tolerance: { amount: '0.01' }
`

/** Starts a daemon with these settings and stops it once the deposit is in that state. */
async function runUntil(
  state: string,
  text: string,
  act = async (): Promise<unknown> => undefined,
): Promise<void> {
  const environment = {
    ...world.environment,
    DEPOSITD_CONFIG: world.write('settings.yaml', text),
    SERVICE_URL: `http://${loopback}:9`,
    RPC_BASE: `http://${loopback}:9`,
    OPS_PORT: String(await freePort()),
  }
  const settings = parseSettings(environment, (path) => readFileSync(path, 'utf8'))
  const log = pino({ level: 'silent' })
  const daemon = await startDaemon(settings, { roles: ['worker', 'scheduler'], version: 'test', log })
  await act()
  const reached = async () => (await stored()).find((one) => one.state === state) ?? null
  await until(`the deposit is ${state}`, reached, 30_000)
  await daemon.stop()
}

async function stored() {
  const { rows } = await sql<{ state: string; open: string | null; tolerated: string }>`
    select d.state, (select string_agg(kind, ' ') from mismatch where cleared_at is null) as open,
      coalesce((select sum(balance_base) from accounting.balances where account = 'expenses:tolerance'), 0)::text as tolerated
    from deposit d`.execute(world.books.db)
  return rows
}

test('a daemon that is restarted with another policy decides what is stored again', async () => {
  await world.receive(settled('dep_1', 99_900_000n, { lack: 10_000n }))
  expect(await stored()).toEqual([{ state: 'settled', open: 'settlement_short', tolerated: '0' }])
  await runUntil('reconciled', tolerant)
  expect(await stored()).toEqual([{ state: 'reconciled', open: null, tolerated: '10000' }])
  await runUntil('settled', settingsText + often)
  expect(await stored()).toEqual([{ state: 'settled', open: 'settlement_short', tolerated: '0' }])
}, 90_000)

test('once there are people, the policy of the settings waits until two of them have signed it', async () => {
  await world.receive(settled('dep_1', 99_900_000n, { lack: 10_000n }))
  await runUntil('settled', settingsText + often)
  await addPeople(world.books.owner)
  const active = { ...world.environment, DEPOSITD_CONFIG: world.write('active.yaml', settingsText + often) }
  const same = await runCommand('policy approve', { ...active, ...signingKeys.erin })
  expect(same.out).toContain('approves the active policy as it is')
  const environment = { ...world.environment, DEPOSITD_CONFIG: world.write('settings.yaml', tolerant) }
  const { db, url } = world.books
  await runUntil('reconciled', tolerant, async () => {
    await until('the policy waits', () => waitingRules(db))
    expect((await runCommand('doctor', environment)).out).toContain(
      'the policy of these settings waits for approval',
    )
    expect(await stored()).toMatchObject([{ state: 'settled' }])
    const decided = await runDecided('policy approve', { ...environment, DATABASE_URL: url })
    expect(decided).toMatchObject({ status: 0, err: '' })
    expect(decided.out).toMatch(/^the policy is active, by erin, approved by max, decision \d+\n/)
  })
  expect(await stored()).toMatchObject([{ state: 'reconciled', tolerated: '10000' }])
  expect(await waitingRules(db)).toBeNull()
}, 90_000)
