import { afterAll, beforeAll, expect, test } from 'vitest'
import { createReader } from '../../src/chain/reader.ts'
import { parseAddress, toTxId } from '../../src/core/asset.ts'
import type { ObservedChainTransfer, TransactionFailure } from '../../src/core/evidence.ts'
import type { Amount } from '../../src/core/money.ts'
import { type BundleParts, plain } from '../../src/evidence/bundle.ts'
import { verifyChains } from '../../src/evidence/verify-chain.ts'
import { type Anvil, startAnvil } from '../support/anvil.ts'
import { evmSettings } from '../support/evm-watch.ts'
import { deployToken, type TestToken } from '../support/test-token.ts'

const payee = '0x00000000000000000000000000000000000a11ce'
const depositor = parseAddress('evm', payee)
let anvil: Anvil
let token: TestToken

beforeAll(async () => {
  anvil = await startAnvil()
  token = await deployToken(anvil, 'USDC')
})
afterAll(() => anvil.stop())

const settings = () => evmSettings(anvil, { tokens: [token.address], native: false })

/** Verifies what is told of a chain, on that chain. */
async function check(
  reported: ObservedChainTransfer | TransactionFailure,
  urls = [anvil.url],
  more: object = {},
) {
  const parts = plain({ networks: [{ ...settings(), ...more }] }) as BundleParts
  const stored = [{ inboxId: 1n, observation: reported }]
  const [found] = await verifyChains(parts, stored, new Map([[reported.network, urls]]))
  return `${found?.outcome}: ${found?.says}`
}

/** A payment on the chain, as a scan stores it. */
async function pay(blocks = 3): Promise<ObservedChainTransfer> {
  const tx = toTxId(await token.send(payee, 5n))
  await anvil.mine(blocks)
  const reading = await createReader(settings()).readTransaction(tx, new Set([depositor]))
  const transfer = reading.kind === 'read' ? reading.transfers[0] : undefined
  if (transfer === undefined) throw new Error('the payment is not on the chain')
  return { ...transfer, kind: 'chain_transfer', role: 'deposit', epoch: 0, receivedAt: transfer.blockAt }
}

test('a payment that is there as told passes, and the chain is named with what counts as final', async () => {
  expect(await check(await pay())).toMatch(/^passed: 1 transfers confirmed on chain id 8453, final by /)
})

test('whatever is told otherwise than the chain has it is named', async () => {
  const reported = await pay()
  const other = parseAddress('evm', '0x0000000000000000000000000000000000000b0b')
  const altered: [Partial<ObservedChainTransfer>, string][] = [
    [{ amount: 6n as Amount }, 'amount is 5, not 6'],
    [{ asset: `${reported.asset.slice(0, -1)}0` as ObservedChainTransfer['asset'] }, 'asset is '],
    [{ from: other }, `not ${other}`],
    [{ to: other }, `no transfer ${reported.index} to ${other}`],
    [{ index: '7' }, 'no transfer 7'],
    [{ height: reported.height + 1n }, 'height is '],
    [{ blockHash: `0x${'ab'.repeat(32)}` }, 'blockHash is '],
    [{ blockAt: new Date(0) }, 'not 1970-01-01T00:00:00.000Z'],
    [{ tx: toTxId(`0x${'cd'.repeat(32)}`) }, 'unknown'],
  ]
  for (const [change, says] of altered) {
    const found = await check({ ...reported, ...change })
    expect(found).toMatch(/^failed: /)
    expect(found).toContain(says)
  }
})

test('what is told of as final must be final', async () => {
  const reported = await pay(1)
  expect(await check({ ...reported, stage: 'final' })).toContain('the bundle calls it final, but it is not')
  expect(await check({ ...reported, stage: 'seen' })).toMatch(/^passed/)
})

test('what is told of as gone must not be in that block', async () => {
  const reported = await pay(1)
  expect(await check({ ...reported, stage: 'orphaned' })).toContain(
    'the bundle calls it removed, but it is in that block',
  )
  await anvil.reorg(1)
  expect(await check({ ...reported, stage: 'orphaned' })).toMatch(/^passed/)
  expect(await check(reported)).toMatch(/^failed/)
})

test('what is told of as failed must have failed, at that height', async () => {
  const tx = toTxId(await token.send(payee, 10n ** 40n))
  await anvil.mine(3)
  const { blockNumber } = await anvil.client.getTransactionReceipt({ hash: tx as `0x${string}` })
  const reported: TransactionFailure = {
    kind: 'failure',
    role: 'deposit',
    network: settings().name,
    tx,
    to: depositor,
    height: blockNumber,
    receivedAt: new Date(0),
  }
  expect(await check(reported)).toMatch(/^passed/)
  expect(await check({ ...reported, height: blockNumber + 1n })).toContain(
    `it failed at height ${blockNumber}`,
  )
  expect(await check({ ...reported, tx: (await pay()).tx })).toContain('it did not fail on this chain')
})

test('a node of another chain, or one that does not answer, is a failed check', async () => {
  const reported = await pay()
  expect(await check(reported, [anvil.url], { chainId: 1 })).toMatch(/^failed: .*chain/)
  expect(await check(reported, ['http://127.0.0.1:9'])).toMatch(/^failed: /)
})

test('of several nodes every one has to answer, whatever sufficed before', async () => {
  const reported = await pay()
  expect(await check(reported, [anvil.url, anvil.url])).toMatch(/^passed/)
  expect(await check(reported, [anvil.url, 'http://127.0.0.1:9'])).toMatch(/^failed: /)
})
