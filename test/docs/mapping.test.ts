import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { knownNetworks } from '../../src/config/known-networks.ts'
import { assetsOf } from '../../src/config/network-schema.ts'
import type { NetworkName, NetworkSettings } from '../../src/core/asset.ts'
import { parseProfile } from '../../src/provider/profile/parse-profile.ts'
import { createClaimReader } from '../../src/provider/read-claim.ts'
import { runCommand } from '../support/command.ts'
import { fences, tableRows } from '../support/markdown.ts'
import { vocabulary } from '../support/own-payloads.ts'
import { readText } from './pages.ts'

const page = readText('docs/mapping.md')
const example =
  fences(page).find(({ language, text }) => language === 'yaml' && text.includes('\nrecord:'))?.text ?? ''

const networks = knownNetworks.map((entry): NetworkSettings => {
  const name = entry.name as NetworkName
  return { ...entry, name, rpcUrls: [], assets: assetsOf(entry) }
})

const payload = {
  event_id: 'ev-1',
  event: 'deposit.paid',
  sent_at: 1766310005123,
  payload: {
    reference: 4711,
    account: { name: 'shop' },
    state: 'PAYING',
    created_at: 1766310000000,
    changed_at: 1766310005123,
    in: { chain: 'BASE', to: `0x${'a'.repeat(40)}`, token: 'GAS', value: 1.5, hash: `0x${'1'.repeat(64)}` },
    out: {
      chain: 'ETHEREUM',
      to: `0x${'b'.repeat(40)}`,
      token: 'USDC',
      value: '4500.250000',
      hash: 'pending',
    },
  },
}

test('the profile of the page is one, and reads what it says that it reads', () => {
  const { profile, faults } = parseProfile(example)
  expect(faults).toEqual([])
  if (profile === null) throw new Error('it has no fault')
  const readClaim = createClaimReader(profile, { ...vocabulary, networks })
  const body = Buffer.from(JSON.stringify(payload))
  expect(readClaim({ source: 'webhook', body, receivedAt: new Date(0) })).toMatchObject({
    kind: 'claim',
    claim: {
      serviceId: '4711',
      owner: { kind: 'channel', id: 'shop' },
      status: 'settling',
      deposit: { network: 'base', asset: 'base/native', amount: 1_500_000_000_000_000_000n, index: null },
      settlement: { network: 'mainnet', amount: 4_500_250_000n, tx: null, fee: null },
      occurredAt: new Date(1766310005123),
    },
  })
})

test('the output of profile test is that of the page', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'depositd-mapping-'))
  const file = (name: string, text: string) => writeFileSync(join(folder, name), text)
  const record = payload.payload
  file('acme.yaml', example)
  file('page.json', JSON.stringify({ data: [record, { ...record, state: 'HALTED' }] }))
  const shown = fences(page).find(({ text }) => text.startsWith('$ bin/depositd profile test'))?.text ?? ''
  const [command = '', ...lines] = shown.split('\n')
  const words = command
    .replace('$ bin/depositd ', '')
    .replaceAll(/\S+\.(yaml|json)/g, (name) => join(folder, name))
  const { status, out } = await runCommand(words, {})
  expect(status).toBe(1)
  expect(out.trimEnd()).toBe(lines.join('\n').trimEnd())
})

test('the profiles that come along are those of the page', () => {
  const names = readdirSync(join(import.meta.dirname, '../../profiles')).map((file) =>
    file.replace('.yaml', ''),
  )
  const listed = tableRows(page).filter(({ name }) => names.includes(name))
  expect(listed.map(({ name }) => name).toSorted()).toEqual(names.toSorted())
})

test('every key of the profile has a row, and every row a key', () => {
  const rows = tableRows(page)
    .map(({ name }) => name)
    .filter((name) => /^(webhook|record|networks|assets)\b/.test(name))
  const unknown = rows.filter((name) => faultOf(name)?.includes('unknown key'))
  expect(unknown).toEqual([])
  expect(faultOf('record.nothing')).toContain('unknown key')
  // The page shows the calls of owners, which are declared before, by an example.
  const [, source = ''] = readText('src/provider/profile/profile-schema.ts').split(
    'export const ownersSchema',
  )
  const keys = [...source.matchAll(/^ {2,4}(\w+): (?:z\.|z$|\w+Field\(|pathSchema|\{|\w+,?$)/gm)].map(
    ([, key]) => key,
  )
  const ends = new Set(rows.map((name) => name.split('.').at(-1)))
  expect(keys.filter((key) => key !== 'list' && key !== 'owners' && !ends.has(key))).toEqual([])
  expect(keys.length).toBeGreaterThan(15)
})

/** What is said of a profile that holds this key alone. */
function faultOf(name: string): string | undefined {
  const names = name.split('.')
  const text = names.map((key, depth) => `${'  '.repeat(depth)}${key}:`).join('\n')
  return parseProfile(`${text} {}\n`).faults.find((fault) => fault.includes('unknown key'))
}
