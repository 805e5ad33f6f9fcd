import { rm } from 'node:fs/promises'
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
  const reconciled = await until(
    'an EVM deposit, a Solana deposit and a StableWallet deposit are reconciled',
    async () => {
      const done = (await deposits()).filter(({ state }) => state === 'reconciled')
      const kinds = [
        done.some(({ network, owner }) => network !== 'solana' && owner !== 'savings'),
        done.some(({ network }) => network === 'solana'),
        done.some(({ owner }) => owner === 'savings'),
      ]
      return kinds.every(Boolean) ? done : null
    },
    240_000,
  )
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
