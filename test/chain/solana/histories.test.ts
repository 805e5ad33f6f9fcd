import { afterEach, beforeEach, expect, test } from 'vitest'
import type { ScanCursor } from '../../../src/chain/types.ts'
import { drain } from '../../support/evm-watch.ts'
import { newAddress } from '../../support/solana-ledger.ts'
import { honest } from '../../support/solana-node.ts'
import {
  openSolanaFixture,
  owner,
  payer,
  pays,
  type SolanaFixture,
  watched,
} from '../../support/solana-watch.ts'

let fixture: SolanaFixture
beforeEach(async () => {
  fixture = await openSolanaFixture('by_owner')
})
afterEach(() => fixture.node.stop())

type Reader = ReturnType<SolanaFixture['reader']>

function inOneSlot(): string[] {
  return [pay(), pay(true), pay(true)]
}

function pay(together = false): string {
  return fixture.node.transact(pays(fixture.associated, 1n, fixture.usdc), { together })
}

async function scan(reader: Reader, cursor: ScanCursor = fixture.start) {
  const result = await reader.scan({ cursor, startHeight: null, watched })
  return { ...result, found: result.transfers.map(({ tx }) => tx) }
}

/** Answers pages with what a script makes of the honest one; `page` counts the pages of the payments' account. */
function changePages(change: (signatures: string[], page: number) => string[]): void {
  let page = 0
  fixture.node.lie((call) => {
    const answer = fixture.node.honestly(call)
    if (call.method !== 'getSignaturesForAddress' || call.params[0] !== fixture.associated) return undefined
    const { result } = answer as { result: { signature: string }[] }
    const wanted = change(
      result.map(({ signature }) => signature),
      page++,
    )
    const entries = wanted.map((signature) => result.find((entry) => entry.signature === signature))
    return { result: entries }
  })
}

test('an order within a slot that differs from page to page loses nothing', async () => {
  const sent = [...inOneSlot(), ...inOneSlot(), ...inOneSlot(), ...inOneSlot()]
  fixture.node.flipSlots()
  const { found } = await scan(fixture.reader({ signaturesPerPage: 8 }))
  expect(new Set(found)).toEqual(new Set(sent))
})

test('slots that fill whole pages are walked through all the same', async () => {
  const sent = [...inOneSlot(), ...inOneSlot(), ...inOneSlot()]
  const { found } = await scan(fixture.reader({ signaturesPerPage: 2 }))
  expect(new Set(found)).toEqual(new Set(sent))
})

test('a page that answers nothing, because its start is unknown to the node, is not the end', async () => {
  for (let count = 0; count < 9; count++) pay()
  changePages((signatures, page) => (page === 1 ? [] : signatures))
  await expect(scan(fixture.reader({ signaturesPerPage: 3 }))).rejects.toThrow('does not continue at')
})

test('a signature that was listed and is no longer does not move the cursor', async () => {
  const reader = fixture.reader()
  pay()
  const vanishing = pay()
  const { cursor } = await scan(reader)
  fixture.node.slot += 10n
  changePages((signatures) => signatures.filter((signature) => signature !== vanishing))
  await expect(scan(reader, cursor)).rejects.toThrow(`${vanishing} in slot 1002 is no longer listed`)
  fixture.node.lie(honest)
  expect((await scan(reader, cursor)).cursor.final.height).toBe(1012n)
})

test('a history that has become empty is missed even when it is long ago', async () => {
  const reader = fixture.reader()
  pay()
  const { cursor } = await scan(reader)
  fixture.node.slot += 5000n
  const far = await scan(reader, cursor)
  changePages(() => [])
  fixture.node.slot += 5000n
  await expect(scan(reader, far.cursor)).rejects.toThrow('is no longer listed')
})

test('what is older than all that the node keeps may go', async () => {
  const reader = fixture.reader()
  pay()
  const { cursor } = await scan(reader)
  fixture.node.slot += 5000n
  const far = await scan(reader, cursor)
  fixture.node.slot += 1000n
  fixture.node.lie(({ method }) => {
    if (method === 'getFirstAvailableBlock') return { result: 3000 }
    return method === 'getSignaturesForAddress' ? { result: [] } : undefined
  })
  expect((await scan(reader, far.cursor)).cursor.final.height).toBe(fixture.node.slot)
})

test('an account that was made, filled, emptied and closed between two scans shows in what its owner did', async () => {
  const account = newAddress()
  const paid = fixture.node.transact(pays(account, 5n, fixture.usdc))
  fixture.node.transact([
    { account: owner },
    { account, token: { mint: fixture.usdc, owner, before: 5n, after: 0n } },
    { account: payer, token: { mint: fixture.usdc, owner: payer, before: 0n, after: 5n } },
  ])
  const { found, movements } = await scan(fixture.reader())
  expect(found).toEqual([paid])
  expect(movements.map(({ change }) => change)).toEqual([-5n])
})

test('a node with another block where the cursor stands does not move it', async () => {
  pay()
  const cursor = { ...fixture.start, final: { height: 1000n, hash: 'another' } }
  await expect(scan(fixture.reader(), cursor)).rejects.toThrow('was read as final with another')
})

test('what one scan leaves for the next is not listed again', async () => {
  const reader = fixture.reader({ transactionsPerScan: 5 })
  await scan(reader)
  const sent = Array.from({ length: 23 }, () => pay())
  fixture.node.calls.length = 0
  const { transfers } = await drain(reader, watched, { cursor: fixture.start })
  expect(transfers.map(({ tx }) => tx)).toEqual(sent)
  const pages = fixture.node.calls.filter(({ method }) => method === 'getSignaturesForAddress')
  expect(pages).toHaveLength(2)
})

test('an address that is watched from the next scan on is listed though others wait', async () => {
  const another = newAddress()
  const reader = fixture.reader({ transactionsPerScan: 2 })
  for (let count = 0; count < 4; count++) pay()
  const tx = fixture.node.transact([
    { account: payer, lamports: [9n, 0n] },
    { account: another, lamports: [0n, 9n] },
  ])
  const { cursor } = await scan(reader)
  const { transfers } = await drain(reader, new Set([owner, another]), { cursor })
  expect(transfers.map((transfer) => transfer.tx)).toContain(tx)
})

test('what an account got, that shows only scans later, is found all the same', async () => {
  const account = newAddress()
  const paid = fixture.node.transact(pays(account, 5n, fixture.usdc))
  // Beyond what is listed again anyway.
  fixture.node.slot += 1000n
  for (let count = 0; count < 6; count++) pay()
  fixture.node.transact([
    { account: owner },
    { account, token: { mint: fixture.usdc, owner, before: 5n, after: 0n } },
    { account: payer, token: { mint: fixture.usdc, owner: payer, before: 0n, after: 5n } },
  ])
  const { transfers } = await drain(fixture.reader({ transactionsPerScan: 2 }), watched, {
    cursor: fixture.start,
  })
  expect(transfers.map(({ tx }) => tx)).toContain(paid)
})

test('overlapping scans answer the same transfers under the same identity', async () => {
  const tx = pay()
  const { cursor } = await drain(fixture.reader(), watched, { cursor: fixture.start })
  fixture.node.slot += 10n
  expect(await fixture.found(cursor)).toEqual([[tx, `${fixture.usdc}:${owner}`, 1n]])
  fixture.node.slot += 1000n
  const far = await drain(fixture.reader(), watched, { cursor })
  expect(await fixture.found(far.cursor)).toEqual([])
})
