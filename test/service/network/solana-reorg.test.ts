import { afterAll, beforeEach, expect, test } from 'vitest'
import type { TxId } from '../../../src/core/asset.ts'
import { temporaryFolderOfFile } from '../../support/folder.ts'
import { honest, type Script } from '../../support/rpc-proxy.ts'
import { until } from '../../support/until.ts'
import { holdsFinalAt, startScanner } from './solana-scanner.ts'

const scanner = await startScanner(temporaryFolderOfFile())
const { proxy } = scanner

beforeEach(() => scanner.begin())
afterAll(() => scanner.stop())

/** The chain as a node tells it that has other blocks from that slot on, all of them empty. */
function forkedAt(fork: bigint): Script {
  return async ({ method, params }, forward) => {
    const answer = await forward()
    const slot = method === 'getBlock' ? BigInt(params[0] as number) : 0n
    if (slot < fork || answer.result === undefined) return answer
    const block = answer.result as { blockhash: string; previousBlockhash: string; transactions?: unknown[] }
    const { blockhash, previousBlockhash: before } = block
    const hashes = {
      blockhash: `${blockhash}fork`,
      previousBlockhash: slot === fork ? before : `${before}fork`,
    }
    return {
      result: { ...block, ...hashes, ...(block.transactions === undefined ? {} : { transactions: [] }) },
    }
  }
}

/** What is told as final until the slot was read as final, by scans that may fail. */
async function finalsThrough(slot: bigint): Promise<TxId[]> {
  const reported: TxId[] = []
  await until(`slot ${slot} is read as final`, async () => {
    const { payments } = await scanner.scan().catch(() => ({ payments: [] }))
    reported.push(...payments.filter(({ final }) => final).map(({ transaction }) => transaction))
    return scanner.position.finalHeight >= slot || null
  })
  return reported
}

test('a payment seen in a block that the chain gave up is not told as final', async () => {
  proxy.behave(holdsFinalAt(scanner.position.finalHeight))
  const signature = await scanner.pay()
  const seen = await until('it is seen', async () => (await scanner.scan()).payments[0] ?? null)
  expect(seen).toMatchObject({ transaction: signature, final: false })
  proxy.behave(forkedAt(seen.block))
  expect(await finalsThrough(seen.block)).toEqual([])
})

test('a payment in a block that took the place of a seen one is told', async () => {
  // Nothing of it becomes final before the chain comes back to its senses.
  const final = scanner.position.finalHeight
  proxy.behave(holdsFinalAt(final, forkedAt(final + 2n)))
  const signature = await scanner.pay()
  const slot = await scanner.slotOf(signature)
  await until('its slot is seen', async () => {
    expect((await scanner.scan()).payments).toEqual([])
    return scanner.position.seenHeight > slot || null
  })
  proxy.behave(honest)
  expect(await finalsThrough(slot)).toEqual([signature])
})

test('where blocks vanished that were final, the last ones are read again', async () => {
  const signature = await scanner.pay()
  const slot = await scanner.slotOf(signature)
  await scanner.readThrough(slot)
  const { finalHeight } = scanner.position
  scanner.position = { ...scanner.position, finalHash: 'another' }
  await until('the reader notices', async () => {
    await scanner.scan().catch(() => null)
    return scanner.position.finalHeight < finalHeight || null
  })
  const from = finalHeight - 64n
  const hash = await scanner.hashOf(from)
  expect(scanner.position).toEqual({ finalHeight: from, finalHash: hash, seenHeight: from, seenHash: hash })
  expect(await finalsThrough(finalHeight)).toEqual([signature])
})

test('a slot without a block is passed over, and one that the node leaves out is not', async () => {
  const signature = await scanner.pay()
  const slot = await scanner.slotOf(signature)
  const gap = slot - 1n
  const leavesOut: Script = async ({ method }, forward) => {
    const answer = await forward()
    if (method !== 'getBlocksWithLimit') return answer
    return { result: (answer.result as number[]).filter((listed) => BigInt(listed) !== gap) }
  }
  const goTo = async (finalHeight: bigint) => {
    const finalHash = await scanner.hashOf(finalHeight)
    scanner.position = { finalHeight, finalHash, seenHeight: finalHeight, seenHash: finalHash }
  }
  proxy.behave(leavesOut)
  for (const before of [gap - 1n, gap - 3n]) {
    await goTo(before)
    await expect(scanner.scan()).rejects.toThrow('are not linked')
  }
  await goTo(gap - 1n)
  const previousBlockhash = await scanner.hashOf(gap - 1n)
  proxy.behave(async (call, forward) => {
    const answer = await leavesOut(call, forward)
    const isNext = call.method === 'getBlock' && BigInt(call.params[0] as number) === slot
    return isNext ? { result: { ...(answer.result as object), previousBlockhash } } : answer
  })
  const { payments } = await scanner.scan()
  expect(payments.filter(({ final }) => final)).toMatchObject([{ transaction: signature, block: slot }])
})

test('a node that lags behind the last scan changes nothing', async () => {
  await scanner.readThrough(scanner.position.finalHeight + 2n)
  const before = scanner.position
  const lagging = Number(before.finalHeight) - 10
  proxy.behave(({ method }, forward) => (method === 'getSlot' ? { result: lagging } : forward()))
  expect(await scanner.scan()).toMatchObject({ payments: [], more: false })
  expect(scanner.position).toEqual(before)
})
