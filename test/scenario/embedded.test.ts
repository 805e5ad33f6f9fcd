import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { Client } from 'pg'
import { afterAll, expect, test } from 'vitest'
import { spawnProgram, startProgram } from '../support/embedded-program.ts'
import { makeFolder } from '../support/make-folder.ts'
import { processesIn } from '../support/processes-in.ts'
import { until } from '../support/until.ts'

const folder = makeFolder('depositd-embedded-')
afterAll(() => rm(folder, { recursive: true, force: true }))

type Deposit = { id: string; state: string; owner: string; network: string }

async function deposits(): Promise<Deposit[]> {
  const listing = spawnProgram(folder, ['deposits', 'list', '--json', '--limit', '1000'])
  expect(await listing.ended).toBe(0)
  return (JSON.parse(listing.output()) as { items: Deposit[] }).items
}

/** An EVM deposit, a Solana deposit and a StableWallet deposit; asked of the books: to start a program takes a core. */
async function untilEachIsReconciled(): Promise<void> {
  const environment = parseEnv(await readFile(join(folder, '.depositd/embedded.env'), 'utf8'))
  const client = new Client({ connectionString: environment.DATABASE_URL })
  await client.connect()
  try {
    await until(
      'an EVM deposit, a Solana deposit and a StableWallet deposit are reconciled',
      async () => (await client.query<{ is: boolean }>(isEachReconciled)).rows[0]?.is || null,
      240_000,
    )
  } finally {
    await client.end()
  }
}

const isEachReconciled = `
  select bool_or(network <> 'solana' and owner_id <> 'savings') and bool_or(network = 'solana')
    and bool_or(owner_id = 'savings') as is from deposit where state = 'reconciled'`

test('a start shows its parts, reconciles on every kind of network, stops whole and goes on from there', {
  timeout: 600_000,
}, async () => {
  const first = await startProgram(folder, 1)
  for (const part of [
    'postgres',
    'mainnet',
    'base',
    'arbitrum',
    'solana',
    'service',
    'daemon',
    'console',
    'metrics',
  ]) {
    expect(first.output()).toMatch(new RegExp(`^  ${part} +\\S`, 'm'))
  }
  expect((await processesIn(folder)).length).toBeGreaterThan(4)
  const second = spawnProgram(folder, ['start'])
  expect(await second.ended).toBe(2)
  expect(second.output()).toContain(`process ${first.pid} is already running`)
  await untilEachIsReconciled()
  const reconciled = (await deposits()).filter(({ state }) => state === 'reconciled')
  expect(reconciled).toContainEqual(expect.objectContaining({ network: 'solana' }))
  const keys = spawnProgram(folder, ['service', 'keys', 'list', '--json'])
  expect(await keys.ended).toBe(0)
  expect(JSON.parse(keys.output()).items).toHaveLength(2)
  expect(await first.end('SIGINT')).toBe(0)
  expect(await processesIn(folder)).toEqual([])

  const again = await startProgram(folder, 3600)
  const kept = await deposits()
  expect(kept.map(({ id }) => id)).toEqual(expect.arrayContaining(reconciled.map(({ id }) => id)))
  const balances = spawnProgram(folder, ['ledger', 'balances'])
  expect(await balances.ended).toBe(0)
  expect(balances.output()).toContain('balanced: every asset sums to zero')
  const shown = spawnProgram(folder, ['deposits', 'show', reconciled[0]?.id ?? ''])
  expect(await shown.ended).toBe(0)
  expect(shown.output()).toMatch(/deposit +\S+ +agrees +proves\n/)
  expect(await again.end('SIGINT')).toBe(0)
  expect(await processesIn(folder)).toEqual([])
})
