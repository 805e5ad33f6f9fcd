import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { honest } from '../../support/solana-node.ts'
import { openSolanaProof, type SolanaProof } from '../../support/solana-proof.ts'
import { owner } from '../../support/solana-watch.ts'

let proof: SolanaProof

/** The first payment is in slot 1001, and proved. */
beforeEach(async () => {
  proof = await openSolanaProof()
  await proof.scan()
  await proof.prove()
  proof.payTokens(5n)
  await proof.scan()
  await proof.prove()
})
afterEach(() => proof[Symbol.asyncDispose]())

const unshown = 'no transaction listed by the node shows the exact slot'

type Reported = { signature?: string; transaction?: { signatures: string[] } }
type Listed = { result: Reported[] }
type Block = { result: { transactions?: Reported[] } }

/** The node tells nothing of these transactions: not where it lists an address, nor, if it goes so far, in their block. */
function hide(signatures: readonly string[], alsoInBlocks = false): void {
  const { node } = proof.fixture
  const isReported = ({ signature, transaction }: Reported) =>
    !signatures.includes(signature ?? transaction?.signatures[0] ?? '')
  node.lie((call) => {
    const honestly = node.honestly(call)
    if (call.method === 'getSignaturesForAddress') {
      return { result: (honestly as Listed).result.filter(isReported) }
    }
    if (call.method !== 'getBlock' || !alsoInBlocks) return undefined
    const { result } = honestly as Block
    const { transactions } = result
    return transactions && { result: { ...result, transactions: transactions.filter(isReported) } }
  })
}

function passSlots(count: bigint): void {
  proof.fixture.node.slot += count
}

function differing(change: string, blocks: string, rest: object = {}) {
  return [{ value: expect.anything(), detail: { address: owner, change, blocks, ...rest } }]
}

/** Known payments in slots 1002 and 1009, and one between them, in 1005. */
function payBetween(amount: bigint): string {
  proof.payTokens(1n)
  passSlots(2n)
  const between = proof.payTokens(amount)
  passSlots(3n)
  proof.payTokens(1n)
  passSlots(500n)
  return between
}

describe('a balance of tokens that changed unseen', () => {
  test('lies between the two transactions whose balances do not fit together', async () => {
    hide([payBetween(4n)], true)
    await proof.scan()
    expect(await proof.prove()).toMatchObject({ stored: 0, changes: [{ change: 'opened' }] })
    expect(await proof.unexplained()).toMatchObject(differing('4', '1002-1009', { problem: unshown }))
  })

  test('is found in its block where the list of the address leaves it out, and booked', async () => {
    const between = payBetween(4n)
    hide([between])
    await proof.scan()
    expect(await proof.sighted()).not.toContain(between)
    expect(await proof.prove()).toMatchObject({ changes: [] })
    expect(await proof.unexplained()).toEqual([])
    expect(await proof.sighted()).toContain(between)
    await proof.books.settle()
    const { rows } = await sql`select amount, state from deposit order by amount`.execute(proof.books.db)
    expect(rows).toContainEqual({ amount: '4', state: 'confirmed' })
  })

  test('lies before the first transaction where its balance is not what was there', async () => {
    const first = proof.payTokens(4n)
    passSlots(2n)
    proof.payTokens(1n)
    passSlots(500n)
    hide([first], true)
    await proof.scan()
    await proof.prove()
    expect(await proof.unexplained()).toMatchObject(differing('4', '1002-1005', { problem: unshown }))
  })

  test('lies behind the last transaction where its balance is not what is there', async () => {
    proof.payTokens(1n)
    proof.payTokens(1n)
    passSlots(2n)
    const last = proof.payTokens(4n)
    passSlots(2n)
    hide([last], true)
    await proof.scan()
    await proof.prove()
    expect(await proof.unexplained()).toMatchObject(differing('4', '1003-1008', { problem: unshown }))
  })

  test('several times in one stretch is told with each of its stretches', async () => {
    const [one, other] = [payBetween(4n), payBetween(-3n)]
    hide([one, other], true)
    await proof.scan()
    await proof.prove()
    const blocks = '1002-1009, 1510-1517'
    expect(await proof.unexplained()).toMatchObject(differing('1', blocks, { problem: unshown }))
    expect(await proof.unexplained()).toMatchObject([{ value: '7' }])
  })

  test('is found where scans had not been told of what the node lists now', async () => {
    const between = payBetween(4n)
    hide([between], true)
    await proof.scan()
    proof.fixture.node.lie(honest)
    const { calls } = proof.fixture.node
    calls.length = 0
    expect(await proof.prove()).toMatchObject({ stored: 1, changes: [] })
    expect(await proof.sighted()).toContain(between)
    const blocks = calls.filter(
      ({ method, params }) =>
        method === 'getBlock' && (params[1] as { transactionDetails: string }).transactionDetails !== 'none',
    )
    expect(blocks.map(({ params }) => params[0])).toEqual([1005])
  })

  test('stays a stretch where more transactions touched the address than are read, and is searched on', async () => {
    for (let count = 0; count < 6; count++) proof.payTokens(1n)
    proof.slip(4n)
    proof.payTokens(1n)
    passSlots(3n)
    await proof.scan()
    await proof.prove(proof.fixture.reader({ transactionsPerScan: 3 }))
    const problem = 'more transactions than one run reads'
    expect(await proof.unexplained()).toMatchObject(differing('4', '1005-1011', { problem }))
    proof.minutes += 61
    await proof.prove(proof.fixture.reader({ transactionsPerScan: 3 }))
    expect(await proof.unexplained()).toMatchObject(differing('4', '1007-1011', { problem }))
    proof.minutes += 61
    await proof.prove(proof.fixture.reader({ transactionsPerScan: 3 }))
    expect(await proof.unexplained()).toMatchObject(differing('4', '1007-1008', { problem: unshown }))
  })

  test('is found in the history where the node does not tell blocks', async () => {
    const between = payBetween(4n)
    hide([between], true)
    await proof.scan()
    proof.fixture.node.lie(({ method }) =>
      method === 'getBlocksWithLimit' ? { error: { code: -32601, message: 'Method not found' } } : undefined,
    )
    expect(await proof.prove()).toMatchObject({ stored: 1, changes: [] })
    expect(await proof.sighted()).toContain(between)
  })
})

test('coin that left unseen, as a fee of a failed transaction does, is found in its slot', async () => {
  proof.moveLamports(1_000_000n)
  const fee = proof.moveLamports(0n, 5000n)
  proof.moveLamports(1_000_000n)
  hide([fee], true)
  await proof.scan()
  proof.fixture.node.lie(honest)
  expect(await proof.prove()).toMatchObject({ stored: 0, changes: [] })
  expect(await proof.unexplained()).toEqual([])
  const { rows } = await sql`select tx, change from chain_movement where tx = ${fee}`.execute(proof.books.db)
  expect(rows).toEqual([{ tx: fee, change: '-5000' }])
})
