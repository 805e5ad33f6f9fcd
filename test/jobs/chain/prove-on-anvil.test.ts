import { sql } from 'kysely'
import type { Hex } from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { createEvmReader } from '../../../src/chain/evm/reader.ts'
import { assetKey, type NetworkReading, type NetworkSettings, parseAddress } from '../../../src/core/asset.ts'
import { activateRules } from '../../../src/jobs/books/activate-rules.ts'
import { type BalanceProofResult, proveBalances } from '../../../src/jobs/chain/prove-balances.ts'
import { scanNetwork } from '../../../src/jobs/chain/scan.ts'
import { pinAssets } from '../../../src/store/assets.ts'
import { saveOwner } from '../../../src/store/owners.ts'
import { type Anvil, rich, startAnvil } from '../../support/anvil.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { at, policy } from '../../support/evidence.ts'
import { base, evmSettings } from '../../support/evm-watch.ts'
import {
  asData,
  forwarderCode,
  giveData,
  placeCode,
  proxyCode,
  silentTokenCode,
} from '../../support/small-contracts.ts'
import { deployToken, type TestToken } from '../../support/test-token.ts'

const depositor = parseAddress('evm', '0x00000000000000000000000000000000000A11cE')
const coin = assetKey(base, 'native')

let anvil: Anvil
let token: TestToken
/** A token that is a proxy, and whose implementation changes balances without a word. */
let odd: Hex
let forwarder: Hex
let books: Books
let minutes = 0

beforeAll(async () => {
  anvil = await startAnvil()
  token = await deployToken(anvil, 'USDC')
  odd = await placeCode(anvil, proxyCode(await placeCode(anvil, silentTokenCode)))
  forwarder = await placeCode(anvil, forwarderCode)
})
afterAll(() => anvil.stop())
beforeEach(async () => {
  books = await openBooks()
  await pinAssets(books.db, settingsOf('never').assets)
  await saveOwner(books.db, {
    owner: { kind: 'stable_wallet', id: 'lab' },
    deposits: [{ network: base, address: depositor }],
    forward: null,
  })
})
afterEach(() => books[Symbol.asyncDispose]())

function settingsOf(traces: NetworkReading['traces']): NetworkSettings {
  const reading: NetworkReading = { quorum: 1, finality: { kind: 'tag', tag: 'finalized' }, traces }
  return { ...evmSettings(anvil, { tokens: [token.address, odd] }), reading }
}

/** Reads what is final by now, and proves all balances. */
async function proveNow(traces: NetworkReading['traces']): Promise<BalanceProofResult | string> {
  const settings = settingsOf(traces)
  const reader = createEvmReader(settings)
  const assets = new Map([[base, settings.assets.map(({ key }) => key)]])
  const deps = { db: books.db, holder: 'me', leaseMs: 600_000, now: () => at(minutes++) }
  await anvil.mine(3)
  while ((await scanNetwork({ ...deps, startHeights: new Map(), assets }, reader))?.more) continue
  return proveBalances(deps, { reader, settings })
}

async function send(transaction: { to: Hex; value?: bigint; data?: Hex }): Promise<bigint> {
  await anvil.client.sendTransaction({ ...transaction, gas: 200_000n })
  await anvil.mine()
  return anvil.client.getBlockNumber()
}

/** Of the default service. */
async function sweepTo(...addresses: readonly Hex[]): Promise<void> {
  await nameSenders(addresses)
}

async function nameSenders(addresses: readonly Hex[], service = 'default'): Promise<void> {
  const senders = new Set(addresses.map((address) => `${base}/${address}`))
  const rules = { policy, routes: [], senders, checkedOutflows: new Set([`${service}/${base}`]) }
  await activateRules({ db: books.db, rules, now: () => at(minutes++) })
}

/** Of the coin, and of the token where there is any. */
async function sendFrom(account: Hex, recipients: readonly Hex[], value = 7n): Promise<void> {
  await anvil.client.impersonateAccount({ address: account })
  for (const to of recipients) {
    await token.send(to, value, account)
    await anvil.client.sendTransaction({ account, to, value, gas: 50_000n })
  }
  await anvil.mine()
}

async function outflows(): Promise<unknown[]> {
  const { rows } = await sql`
    select loss_amount::text as loss, detail from open_mismatch where kind = 'unknown_outflow'
    order by detail ->> 'asset' desc`.execute(books.db)
  return rows
}

async function unexplained(): Promise<unknown[]> {
  const { rows } = await sql`
    select asset, value, detail from mismatch
    where kind = 'unexplained_balance' and cleared_at is null order by asset`.execute(books.db)
  return rows
}

test('a payment that was proved and is no longer on the chain is no difference', async () => {
  await proveNow('never')
  await token.send(depositor as Hex, 5n)
  await send({ to: depositor as Hex, value: 6n })
  await proveNow('never')
  await anvil.reorg(4)
  await anvil.mine(2)
  expect(await proveNow('never')).toMatchObject({ changes: [] })
  const { rows } = await sql`select 1 from balance_point where balance > opening`.execute(books.db)
  expect(rows).toEqual([])
  expect(await unexplained()).toEqual([])
})

test('what a deposit address sends to a stranger is a mismatch, until the stranger is known', async () => {
  const [sweeper, stranger] = [
    '0x00000000000000000000000000000000000005ee',
    '0x0000000000000000000000000000000000057a4e',
  ] as const
  await sweepTo(sweeper)
  await proveNow('never')
  await token.send(depositor as Hex, 50n)
  await send({ to: depositor as Hex, value: 10n ** 18n })
  await proveNow('never')
  await sendFrom(depositor as Hex, [sweeper, rich.address, stranger])
  expect(await proveNow('never')).toMatchObject({ changes: [{ change: 'opened' }, { change: 'opened' }] })
  const lost = { address: depositor, recipient: stranger, amount: '7' }
  expect(await outflows()).toEqual([
    { loss: '7', detail: expect.objectContaining({ ...lost, asset: coin }) as object },
    {
      loss: '7',
      detail: expect.objectContaining({ ...lost, asset: `${base}/${token.address}` }) as object,
    },
  ])
  // What the stranger pays afterwards excuses nothing.
  await send({ to: stranger, value: 10n ** 18n })
  await sendFrom(stranger, [depositor as Hex])
  expect(await proveNow('never')).toMatchObject({ changes: [] })
  await sweepTo(sweeper, stranger)
  expect(await proveNow('never')).toMatchObject({ changes: [{ change: 'cleared' }, { change: 'cleared' }] })
})

test('no more goes back to where it came from than came from there', async () => {
  await sweepTo('0x00000000000000000000000000000000000005ee')
  await proveNow('never')
  await token.send(depositor as Hex, 50n)
  await send({ to: depositor as Hex, value: 10n ** 18n })
  await proveNow('never')
  await sendFrom(depositor as Hex, [rich.address], 50n)
  expect(await proveNow('never')).toMatchObject({ changes: [] })
  const another = '0x0000000000000000000000000000000000a07e12'
  await token.send(another, 5n)
  await send({ to: another, value: 10n ** 18n })
  await sendFrom(another, [depositor as Hex], 5n)
  await sendFrom(depositor as Hex, [rich.address], 5n)
  expect(await proveNow('never')).toMatchObject({ changes: [{ change: 'opened' }] })
})

async function changesOfAStranger(): Promise<unknown> {
  await token.send(depositor as Hex, 50n)
  await send({ to: depositor as Hex, value: 10n ** 18n })
  await proveNow('never')
  await sendFrom(depositor as Hex, ['0x0000000000000000000000000000000000057a4e'])
  return proveNow('never')
}

test('without senders of the network, outflows are not checked', async () => {
  expect(await changesOfAStranger()).toMatchObject({ changes: [] })
})

test('if only another service names its senders, outflows are not checked', async () => {
  await nameSenders(['0x00000000000000000000000000000000000005ee'], 'acme')
  expect(await changesOfAStranger()).toMatchObject({ changes: [] })
})

test('coin that a contract paid is missed without traces, and shown by the balance with its block', async () => {
  await proveNow('never')
  await anvil.mine(40)
  const paidAt = await send({ to: forwarder, value: 7n, data: asData(depositor as Hex) })
  await anvil.mine(60)
  expect(await proveNow('never')).toMatchObject({ stored: 0, changes: [{ change: 'opened' }] })
  const detail = { address: depositor, change: '7', blocks: `${paidAt}` }
  expect(await unexplained()).toEqual([{ asset: coin, value: '7', detail }])
})

test('coin that a contract paid is found and booked with traces of the one block in which the balance changed', async () => {
  await proveNow('on_difference')
  await anvil.mine(40)
  const paidAt = await send({ to: forwarder, value: 8n, data: asData(depositor as Hex) })
  await anvil.mine(60)
  expect(await proveNow('on_difference')).toMatchObject({ stored: 1, changes: [] })
  await books.settle()
  expect(await unexplained()).toEqual([])
  const { rows } = await sql`
    select d.amount, d.state, j.kind from deposit d join ledger_journal j on j.deposit_id = d.id`.execute(
    books.db,
  )
  expect(rows).toEqual([{ amount: '8', state: 'confirmed', kind: 'deposit' }])
  const { rows: chainTransfers } = await sql`select height, stage from chain_transfer`.execute(books.db)
  expect(chainTransfers).toEqual([{ height: paidAt, stage: 'final' }])
  expect(await proveNow('on_difference')).toMatchObject({ stored: 0, changes: [] })
})

test('a token that changes a balance without a log is shown with the block, whatever is traced', async () => {
  await proveNow('on_difference')
  await anvil.mine(20)
  const changedAt = await send({ to: odd, data: giveData(depositor as Hex, 9n) })
  await anvil.mine(20)
  expect(await proveNow('on_difference')).toMatchObject({ stored: 0, changes: [{ change: 'opened' }] })
  const asset = assetKey(base, parseAddress('evm', odd))
  const detail = { address: depositor, change: '9', blocks: `${changedAt}` }
  expect(await unexplained()).toEqual([{ asset, value: '9', detail }])
})
