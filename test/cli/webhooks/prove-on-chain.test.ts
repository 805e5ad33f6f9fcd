import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDatabase } from '../../../src/store/database.ts'
import type { Tables } from '../../../src/store/tables.ts'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { runCommand } from '../../support/command.ts'
import { temporaryFolderOfFile } from '../../support/folder.ts'
import { testDatabase } from '../../support/postgres.ts'
import { deployToken } from '../../support/test-token.ts'

/** A real chain with payments, and records that name them by words that mean nothing. */

const folder = temporaryFolderOfFile()
const addresses = ['aa', 'bb'].map((end) => `0x${end.padStart(40, '0')}`)
const stack = new AsyncDisposableStack()

let chain: Anvil
let environment: Record<string, string>
let records: string

beforeAll(async () => {
  chain = await startAnvil()
  stack.defer(() => chain.stop())
  const token = await deployToken(chain, 'TKN')
  const rows = []
  for (let number = 1; number <= 6; number++) {
    const to = addresses[number % 2] as `0x${string}`
    const amount = BigInt(number) * 10n ** 18n + 25n
    rows.push({
      k1: `z-${number}`,
      k2: to,
      k3: `${number}`,
      k4: await token.send(to, amount),
      k5: `${amount}`,
    })
    await chain.mine()
  }
  await chain.mine(3)
  records = file('records.json', JSON.stringify(rows))
  const database = await testDatabase()
  stack.defer(() => database.drop())
  const db = openDatabase<Tables>({ url: database.url, poolMax: 1, applicationName: 'test' })
  await sql`insert into owner (kind, id, added_by) values ('stable_wallet', 'w', 'ana')`.execute(db)
  for (const address of addresses)
    await sql`insert into address_book (network, address, role, owner_kind, owner_id, added_by)
      values ('base', ${address}, 'deposit', 'stable_wallet', 'w', 'ana')`.execute(db)
  await db.destroy()
  const settings = `networks:\n  - { name: base, family: evm, chainId: 8453, assets: [{ symbol: TKN, contract: '${token.address}', decimals: 18 }] }\n`
  environment = { DATABASE_URL: database.url, DEPOSITD_CONFIG: file('depositd.yaml', settings) }
}, 120_000)
afterAll(() => stack.disposeAsync())

function file(name: string, content: string): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

async function profile(options: string, more: Record<string, string>): Promise<string> {
  const captures = file('none.jsonl', '')
  const { status, out, err } = await runCommand(
    `webhooks profile --from ${captures} --records ${records}${options}`,
    {
      ...environment,
      ...more,
    },
  )
  if (status === 2 || err !== '') throw new Error(err)
  return out
}

test('a node decides which fields are the transaction, its recipient and its amount', async () => {
  const out = await profile('', { RPC_BASE: chain.url })
  expect(out).toContain('id: k1 # proved: one for each of 6 payments on the chain')
  expect(out).toContain('address: k2 # proved: received what was paid on the chain; 6 payments')
  expect(out).toContain('transaction: k4 # proved: paid deposit addresses of the address book; 6 payments')
  expect(out).toContain('amount: k5 # proved: the amount paid on the chain; 6 payments')
  expect(out).toContain('asset: not-found # unsure: no field agrees with the facts')
})

test('offline, no node is asked; a node that is away is named', async () => {
  expect(await profile(' --offline', { RPC_BASE: chain.url })).toContain('No node was asked')
  const away = await profile('', { RPC_BASE: 'http://127.0.0.1:9' })
  expect(away).toContain('Transactions on base were not looked up')
  expect(away).not.toContain('# proved')
}, 60_000)
