import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Hex } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createEvmReader } from '../../../src/chain/evm/reader.ts'
import { assetKey, type NetworkSettings, parseAddress } from '../../../src/core/asset.ts'
import { scanNetwork } from '../../../src/jobs/chain/scan.ts'
import { pinAssets } from '../../../src/store/assets.ts'
import { tieWallet } from '../../../src/store/books/withdrawals.ts'
import { inTransaction } from '../../../src/store/database.ts'
import { saveOwner } from '../../../src/store/owners.ts'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { runCommand } from '../../support/command.ts'
import { arbitrum, credit, webhook } from '../../support/evidence.ts'
import { base } from '../../support/evm-watch.ts'
import { temporaryFolderOfFile } from '../../support/folder.ts'
import { settingsEnvironment } from '../../support/judging-environment.ts'
import { addPeople, runDecided } from '../../support/people.ts'
import { deployToken, type TestToken } from '../../support/test-token.ts'

const folder = temporaryFolderOfFile()
const depositor = parseAddress('evm', '0x00000000000000000000000000000000000A11cE')
const unit = 10n ** 18n

let anvil: Anvil
let token: TestToken
let books: Books
let environment: Record<string, string>
/** The section of the settings with the network that is read, and one more that has no node. */
let network: string
const unread = `  - { name: arbitrum, family: evm, chainId: 42161, assets: [{ symbol: USDC, decimals: 6, contract: '0x00000000000000000000000000000000000000a1' }] }
`
/** Of the block after which 100 were at the address; 25 came later. */
let paidAt: Date

beforeAll(async () => {
  anvil = await startAnvil(8453, ['--timestamp', `${Date.parse('2026-01-01') / 1000}`])
  token = await deployToken(anvil, 'USDC')
  books = await openBooks()
  await addPeople(books.owner)
  const key = assetKey(base, parseAddress('evm', token.address))
  const asset = { key, network: base, symbol: 'TKN', decimals: 18 }
  await pinAssets(books.db, [asset])
  await saveOwner(books.db, {
    owner: { kind: 'stable_wallet', id: 'lab' },
    deposits: [
      { network: base, address: depositor },
      { network: arbitrum, address: depositor },
    ],
    forward: null,
  })
  const chain = { family: 'evm', chainId: 8453, rpcUrls: [anvil.url], assets: [asset] } as const
  network = `networks:
  - { name: base, family: evm, chainId: 8453, assets: [{ symbol: TKN, decimals: 18, contract: '${token.address}' }] }
`
  const settings: NetworkSettings = { name: base, ...chain }
  await token.send(depositor as Hex, 100n * unit)
  await anvil.mine()
  paidAt = await blockTime()
  await anvil.client.increaseTime({ seconds: 60 })
  await token.send(depositor as Hex, 25n * unit)
  await anvil.mine(5)
  const deps = { db: books.db, holder: 'me', leaseMs: 600_000, now: () => new Date() }
  await scanNetwork(
    { ...deps, startHeights: new Map(), assets: new Map([[base, [key]]]) },
    createEvmReader(settings),
  )
  environment = { ...settingsEnvironment(books.url, folder, `${network}${unread}`), RPC_BASE: anvil.url }
})
afterAll(async () => {
  await books[Symbol.asyncDispose]()
  await anvil.stop()
})

async function blockTime(): Promise<Date> {
  return new Date(Number((await anvil.client.getBlock()).timestamp) * 1000)
}

const open = (options: string) =>
  runDecided(
    ['ledger', 'open', '--at', paidAt.toISOString(), ...options.split(' '), '--reason', 'the books begin'],
    environment,
  )

function write(...lines: string[]): string {
  const path = join(folder, 'balances.csv')
  writeFileSync(path, ['account,asset,balance', ...lines].join('\n'))
  return path
}

test('a dry run says what own funds cost, and which enter at their market value', async () => {
  const own = "accounts: { own: ['assets:treasury:cold', 'assets:treasury:hot'] }"
  const path = join(folder, 'own.csv')
  const lines = [
    'account,asset,balance,cost,acquired',
    'assets:treasury:cold,base/TKN,1.5,100.25,2025-03-01',
    'assets:treasury:cold,base/TKN,2,1200,2025-04-01',
    'assets:treasury:hot,base/TKN,3,,',
  ]
  writeFileSync(path, lines.join('\n'))
  const text = `${network}${unread}${own}\nvaluation: { currency: EUR, own: ['assets:treasury:*'] }\n`
  const valued = { ...settingsEnvironment(books.url, folder, text), RPC_BASE: anvil.url }
  const words = ['ledger', 'open', '--at', paidAt.toISOString(), '--file', path, '--dry-run']
  const { out, err } = await runCommand([...words, '--reason', 'x'], valued)
  expect(err).toBe('')
  expect(out).toContain('own funds with a cost: 2 lots, 1300.25 EUR\n')
  expect(out).toContain('own funds at their market price, without a cost: assets:treasury:hot in TKN\n')
  const { lots } = JSON.parse((await runCommand([...words, '--reason', 'x', '--json'], valued)).out)
  expect(lots[0]).toMatchObject({
    account: 'assets:treasury:cold',
    acquired_at: '2025-03-01T00:00:00.000Z',
    amount: `1.5${'0'.repeat(17)}`,
    cost: '100.25',
    currency: 'EUR',
  })
  environment = { ...settingsEnvironment(books.url, folder, `${network}${unread}`), RPC_BASE: anvil.url }
})

test('stated balances are proved by the chain at that block, and a difference is booked only by decision', async () => {
  const file = write(
    'assets:in_transit:base,base/TKN,99.5',
    'liabilities:deposits:stable_wallet:lab,base/TKN,-99.5',
    'assets:in_transit:arbitrum,arbitrum/USDC,3',
  )
  const dry = await open(`--file ${file} --dry-run`)
  expect(dry).toMatchObject({ status: 1, err: '' })
  expect(
    dry.out.replaceAll(/block \d+/g, 'block N').replaceAll(token.address, 'TOKEN'),
  ).toMatchInlineSnapshot(`
    "ACCOUNT                                                 STATED                  PROVED            DIFFERENCE  SYMBOL  BY                                                        ASSET
    assets:in_transit:base                   99.500000000000000000  100.000000000000000000  0.500000000000000000  TKN     block N, 3 addresses                                      base/TOKEN
    assets:in_transit:arbitrum                            3.000000                                                USDC    not proved: the settings name no node of the network      arbitrum/0x00000000000000000000000000000000000000a1
    liabilities:deposits:stable_wallet:lab  -99.500000000000000000                                                TKN     not proved: no chain and no list of the service shows it  base/TOKEN
    assets:stable_wallet:lab                              0.000000                                                USDC    not proved: the service has not stated its balance yet    stable-wallet/USDC
    assets:stable_wallet:savings                          0.000000                                                USDC    not proved: the service has not stated its balance yet    stable-wallet/USDC
    valid, not booked: opening/1, in the books of 2026-01
    no journal of an earlier event is booked
    "
  `)
  const refused = await open(`--file ${file}`)
  expect(refused.status).toBe(2)
  expect(refused.err).toContain('one balance differs from what is proved')
  const booked = await open(`--file ${file} --differences-to-suspense --json`)
  expect(JSON.parse(booked.out)).toMatchObject({
    kind: 'opening',
    made_by: 'erin',
    approved_by: 'max',
    reason: 'the books begin',
    differing: 1,
    balances: [
      {
        account: 'assets:in_transit:base',
        proved_base: `${100n * unit}`,
        difference: `0.5${'0'.repeat(17)}`,
      },
      {},
      {},
      {},
      {},
    ],
  })
  const { out } = await runCommand('ledger balances', environment)
  expect(out).toMatch(/assets:in_transit:base +100\.0{18} +TKN/)
  expect(out).toMatch(/liabilities:suspense +-0\.50{17} +TKN/)
  const { id } = JSON.parse(booked.out)
  expect(
    await runCommand(`ledger journal reverse ${id} --break-glass erin,max --reason wrong`, environment),
  ).toMatchObject({ status: 0 })
})

test('what is not decided yet is waited for, with progress', async () => {
  await books.receive(webhook())
  const file = write('assets:in_transit:base,base/TKN,100', 'liabilities:suspense,base/TKN,-100')
  const waiting =
    /^depositd: the daemon has not decided everything .*; observations that wait to be applied: 1; let the daemon run/
  const at0 = await open(`--file ${file} --dry-run --wait 0`)
  expect(at0).toMatchObject({ status: 2, out: '', err: expect.stringMatching(waiting) as string })
  const opening = open(`--file ${file} --dry-run`)
  await sleep(1000)
  await books.settle()
  const { status, err } = await opening
  expect(err).toMatch(/^(the daemon has not decided everything .*: 1\n)+$/)
  expect(status).toBe(0)
})

test('without a file, what the service and the chains state is booked, with what is owed for it', async () => {
  await inTransaction(books.db, async (tx) => {
    for (const wallet of ['lab', 'savings'])
      await tieWallet(tx, { wallet, asset: credit, balance: 7_000_000n, readAt: new Date(), withinMs: 1 })
  })
  expect((await open('--from-service')).err).toContain(
    'assets:in_transit:arbitrum in arbitrum/0x00000000000000000000000000000000000000a1: not proved',
  )
  environment = { ...settingsEnvironment(books.url, folder, network), RPC_BASE: anvil.url }
  expect(await open('--from-service')).toMatchObject({ status: 0 })
  const { out } = await runCommand('ledger balances', environment)
  expect(out.replaceAll(/ +(?=\n)/g, '').replaceAll(token.address, 'TOKEN')).toMatchInlineSnapshot(`
    "ACCOUNT                                                     BALANCE  SYMBOL  ASSET
    assets:in_transit:base                       100.000000000000000000  TKN     base/TOKEN
    liabilities:deposits:stable_wallet:lab      -100.000000000000000000  TKN     base/TOKEN
    = sum                                          0.000000000000000000  TKN     base/TOKEN
    assets:stable_wallet:lab                                   7.000000  USDC    stable-wallet/USDC
    assets:stable_wallet:savings                               7.000000  USDC    stable-wallet/USDC
    liabilities:deposits:stable_wallet:lab                    -7.000000  USDC    stable-wallet/USDC
    liabilities:deposits:stable_wallet:savings                -7.000000  USDC    stable-wallet/USDC
    = sum                                                      0.000000  USDC    stable-wallet/USDC
    Balances of zero are left out: 5. --json lists them.
    balanced: every asset sums to zero
    "
  `)
})

test.each([
  ['--from-service --file x', /cannot be used with/],
  ['--dry-run', /no balances are given/],
])('ledger open %s is refused', async (options, reason) => {
  expect(await open(options)).toMatchObject({
    status: 2,
    err: expect.stringMatching(reason) as string,
  })
})

test('a moment up to which a chain is not read is refused', async () => {
  const at = (await blockTime()).toISOString()
  const { err } = await runCommand(`ledger open --at ${at} --from-service --reason x`, environment)
  expect(err).toContain(`base is not read as final up to ${at} yet`)
})
