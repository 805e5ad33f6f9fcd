import { sql } from 'kysely'
import { encodeFunctionData, erc20Abi, type Hex } from 'viem'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Anvil, rich, startAnvil } from '../support/anvil.ts'
import { runCommand } from '../support/command.ts'
import { type DaemonOnAnvil, startDaemonOnAnvil, untilRead } from '../support/daemon-on-anvil.ts'
import { fee, placeFeeToken } from '../support/fee-token.ts'
import { holdInvariants } from '../support/hold-invariants.ts'
import { depositor } from '../support/reported-networks.ts'
import { deployToken, type TestToken } from '../support/test-token.ts'

/** As the address that is paid looks where its middle is left out. */
const lookalike = '0x0000000000000000beef000000000000000a11ce'

const stack = new AsyncDisposableStack()
let anvil: Anvil
let token: TestToken
/** It has the symbol, the name and the code of the token that counts. */
let fake: TestToken
let keeping: Hex
let boasting: Hex
let world: DaemonOnAnvil
/** Each payment has an amount of its own. */
let amount = 1000n

beforeAll(async () => {
  anvil = await startAnvil()
  stack.defer(() => anvil.stop())
  token = await deployToken(anvil, 'USDC')
  fake = await deployToken(anvil, 'USDC')
  keeping = await placeFeeToken(anvil, rich.address, 'net')
  boasting = await placeFeeToken(anvil, rich.address, 'gross')
  await anvil.client.impersonateAccount({ address: depositor })
  await anvil.mine(3)
  const others = [
    { symbol: 'KEEP', contract: keeping },
    { symbol: 'BOAST', contract: boasting },
  ]
  const reported = { name: 'base', chainId: anvil.chainId, urls: [anvil.url], token: token.address, others }
  world = await startDaemonOnAnvil([{ ...reported, more: { startHeight: 0 } }], stack)
})
afterAll(() => stack.disposeAsync())
beforeEach(() => makeFinal())

async function makeFinal(): Promise<void> {
  await anvil.mine(4)
  await untilRead(world, 'base', (await anvil.client.getBlockNumber()) - 2n)
}

async function holdAll(): Promise<void> {
  await makeFinal()
  const watched = { network: 'base', rpcUrl: anvil.url, address: depositor, token: token.address }
  await holdInvariants(world, { ...watched, others: [keeping, boasting] })
}

type Call = { from?: Hex; name: 'transfer' | 'transferFrom'; args: readonly unknown[] }

async function call(address: Hex, { from, name, args }: Call): Promise<Hex> {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: name, args: args as never })
  return anvil.client.sendTransaction({ account: from ?? rich, to: address, data, gas: 200_000n })
}

type Reported = { stage: string; asset: string; amount: string }

/** What was ever seen of transactions. */
async function seen(...txs: Hex[]): Promise<Reported[]> {
  const { rows } = await sql<Reported>`
    select distinct stage, asset, amount::text as amount from chain_transfer
    where split_part(transfer, '/', 2) = any(${txs}) and stage = 'final'`.execute(world.db)
  return rows
}

/** What is booked of transactions, and which mismatches are open. */
async function outcome(...txs: Hex[]): Promise<string[]> {
  const { rows } = await sql<{ what: string }>`
    select 'booked ' || kind as what from ledger_journal where split_part(transfer, '/', 2) = any(${txs})
    union all
    select mismatch.kind from mismatch join deposit using (group_id)
    where deposit.tx = any(${txs}) and mismatch.cleared_at is null
    order by 1`.execute(world.db)
  return rows.map(({ what }) => what)
}

/** What the service says that cannot be understood. */
async function refused(): Promise<unknown[]> {
  return (await sql`select detail from mismatch where kind = 'schema_drift'`.execute(world.db)).rows
}

async function balances(): Promise<string> {
  const { out } = await runCommand('doctor --balances --json', world.environment)
  const { checks: findings } = JSON.parse(out) as {
    checks: { check: string; state: string; says: string }[]
  }
  const found = findings.find(({ check }) => check === 'balances base')
  return `${found?.state}: ${found?.says}`
}

async function claim(tx: Hex, contract: string | null): Promise<void> {
  const [log] = (await anvil.client.getTransactionReceipt({ hash: tx })).logs
  const index = contract === null ? 'native' : String(log?.logIndex)
  world.credited.push({ network: 'base', tx, index, contract, amount })
}

test('a token of the same symbol is nothing, whatever the service takes it for', async () => {
  amount += 1n
  const [unclaimed, asItself, asReal] = [
    await fake.send(depositor, amount),
    await fake.send(depositor, amount),
    await fake.send(depositor, amount),
  ]
  // As long as a deposit is young, the service is asked each second.
  await token.send(depositor, amount)
  await anvil.mine()
  await claim(asItself, fake.address)
  await claim(asReal, token.address)
  const problem = `unknown asset base/${fake.address}`
  await expect.poll(refused).toEqual([{ detail: { path: 'source.contract', source: 'api', problem } }])
  await holdAll()
  expect(await seen(unclaimed, asItself, asReal)).toEqual([])
  expect(await outcome(unclaimed, asItself, asReal)).toEqual([])
})

test('a transfer of nothing, and one to an address that looks alike, are nothing', async () => {
  const txs = [
    await token.send(depositor, 0n),
    await call(token.address, { name: 'transferFrom', args: [depositor, lookalike, 0n] }),
    await call(token.address, { name: 'transferFrom', args: [lookalike, depositor, 0n] }),
    await call(keeping, { name: 'transfer', args: [lookalike, 50n] }),
    await anvil.client.sendTransaction({ to: depositor, value: 0n }),
    await anvil.client.sendTransaction({ to: lookalike, value: 5n }),
    await token.send(lookalike, 5n),
    await fake.send(lookalike, 5n),
  ]
  await holdAll()
  expect(await seen(...txs)).toEqual([])
})

test('what an address sends to itself is nothing, and what it holds is explained', async () => {
  const paid = await anvil.client.sendTransaction({ to: depositor, value: 10n ** 18n })
  await token.send(depositor, 77n)
  await makeFinal()
  expect(await balances()).toMatch(/^ok/)
  const txs = [
    await call(token.address, { from: depositor, name: 'transfer', args: [depositor, 70n] }),
    await anvil.client.sendTransaction({ account: depositor, to: depositor, value: 7n, gas: 21_000n }),
  ]
  await holdAll()
  expect(await seen(...txs)).toEqual([])
  await expect.poll(() => outcome(paid)).toEqual(['booked deposit', 'unreported'])
  expect(await balances()).toMatch(/^ok/)
})

test('what fails is nothing, and is told of where the service takes it for a payment', async () => {
  amount += 1n
  await anvil.client.setCode({ address: depositor, bytecode: '0xfe' })
  const coin = await anvil.client.sendTransaction({ to: depositor, value: amount, gas: 100_000n })
  await anvil.mine()
  await anvil.client.setCode({ address: depositor, bytecode: '0x' })
  const tokens = await call(token.address, { name: 'transferFrom', args: [lookalike, depositor, amount] })
  await anvil.mine()
  const receipts = [coin, tokens].map((hash) => anvil.client.getTransactionReceipt({ hash }))
  expect((await Promise.all(receipts)).map(({ status }) => status)).toEqual(['reverted', 'reverted'])
  await claim(coin, null)
  await makeFinal()
  await expect.poll(() => outcome(coin)).toEqual(['tx_failed'])
  await holdAll()
  expect(await seen(coin, tokens)).toEqual([])
  expect(await outcome(coin, tokens)).toEqual(['tx_failed'])
})

test('of a token that keeps a fee, what arrived is booked', async () => {
  const tx = await call(keeping, { name: 'transfer', args: [depositor, 500n] })
  await holdAll()
  expect(await seen(tx)).toEqual([{ stage: 'final', asset: `base/${keeping}`, amount: String(500n - fee) }])
  expect(await balances()).toMatch(/^ok/)
})

test('a token that says more than it moved is told by the balance', async () => {
  const tx = await call(boasting, { name: 'transfer', args: [depositor, 500n] })
  await holdAll()
  expect(await seen(tx)).toEqual([{ stage: 'final', asset: `base/${boasting}`, amount: '500' }])
  expect(await balances()).toMatch(/^fault: differ from the ledger: 0\.0+10 BOAST at 1 of the addresses/)
  const reported = sql`select asset, value from mismatch where kind = 'unexplained_balance' and cleared_at is null`
  expect((await reported.execute(world.db)).rows).toEqual([
    { asset: `base/${boasting}`, value: fee.toString() },
  ])
})
