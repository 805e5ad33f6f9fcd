import type { Hex } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createEvmReader } from '../../../src/chain/evm/reader.ts'
import { parseAddress } from '../../../src/core/asset.ts'
import { scanNetwork } from '../../../src/jobs/chain/scan.ts'
import { pinAssets } from '../../../src/store/assets.ts'
import { saveOwner } from '../../../src/store/owners.ts'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { runCommand } from '../../support/command.ts'
import type { Finding } from '../../support/doctor-world.ts'
import { base, evmSettings } from '../../support/evm-watch.ts'
import { temporaryFolderOfFile } from '../../support/folder.ts'
import { settingsEnvironment } from '../../support/judging-environment.ts'
import { seal } from '../../support/sealed-books.ts'
import { asData, forwarderCode, placeCode } from '../../support/small-contracts.ts'

const depositor = parseAddress('evm', '0x00000000000000000000000000000000000A11cE')

let anvil: Anvil
let books: Books
let environment: Record<string, string>
const folder = temporaryFolderOfFile()

beforeAll(async () => {
  anvil = await startAnvil()
  books = await openBooks()
  await seal(books)
  const network =
    '{ name: base, family: evm, chainId: 8453, traces: never, assets: [{ symbol: ETH, contract: native, decimals: 18 }] }'
  environment = { ...settingsEnvironment(books.url, folder, `networks: [${network}]`), RPC_BASE: anvil.url }
  await pinAssets(books.db, settings().assets)
  await saveOwner(books.db, {
    owner: { kind: 'stable_wallet', id: 'lab' },
    deposits: [{ network: base, address: depositor }],
    forward: null,
  })
})
afterAll(async () => {
  await anvil.stop()
  await books[Symbol.asyncDispose]()
})

const now = () => new Date()
const settings = () => evmSettings(anvil, { tokens: [] })

async function scan(): Promise<void> {
  await anvil.mine(4)
  const assets = new Map([[base, settings().assets.map(({ key }) => key)]])
  const deps = { db: books.db, holder: 'me', leaseMs: 1, startHeights: new Map(), assets, now }
  while ((await scanNetwork(deps, createEvmReader(settings())))?.more) continue
}

async function balances(): Promise<Finding | undefined> {
  const { out } = await runCommand('doctor --balances --json', environment)
  const { checks: findings } = JSON.parse(out) as { checks: Finding[] }
  return findings.find(({ check }) => check === 'balances base')
}

test('before the network was read, no balance can be proved', async () => {
  expect(await balances()).toMatchObject({
    state: 'warning',
    says: expect.stringContaining('3 of 3 are not proved'),
  })
})

test('what the nodes are asked a day is printed for the addresses there are, and for more', async () => {
  const { out } = await runCommand('doctor --cost --json', environment)
  const { items } = JSON.parse(out) as { items: Record<string, unknown>[] }
  const ofBase = items.filter(({ network }) => network === 'base')
  expect(ofBase.slice(1).map(({ addresses }) => addresses)).toEqual([10, 1000, 10_000])
})

test('all balances are proved at once, and the number and height are told', async () => {
  await scan()
  await anvil.client.sendTransaction({ to: depositor as Hex, value: 5n })
  await scan()
  expect(await balances()).toMatchObject({
    state: 'ok',
    says: expect.stringMatching(/^3 proved, up to height \d+$/),
  })
})

test('what is not explained is a fault that says how much of what', async () => {
  const forwarder = await placeCode(anvil, forwarderCode)
  await anvil.client.sendTransaction({
    to: forwarder,
    value: 10n ** 18n,
    data: asData(depositor as Hex),
    gas: 100_000n,
  })
  await scan()
  expect(await balances()).toMatchObject({
    state: 'fault',
    says: 'differ from the ledger: 1.000000000000000000 ETH at 1 of the addresses',
    fix: 'bin/depositd mismatches list --kind unexplained_balance; docs/runbook.md#unexplained_balance',
  })
})
