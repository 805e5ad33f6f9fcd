import { numberToHex } from 'viem'
import { expect, test } from 'vitest'
import { dialects } from '../../../src/chain/evm/traces.ts'
import { toTxId } from '../../../src/core/asset.ts'

const hash = `0x${'b0'.repeat(32)}` as const
const tx = toTxId(`0x${'aa'.repeat(32)}`)
const other = toTxId(`0x${'cc'.repeat(32)}`)
const address = (number: number): string => numberToHex(number, { size: 20 })
const payer = address(1)
const one = address(2)
const two = address(3)
const three = address(4)

/** What happened, told in both ways: `kind`, from, to, value, whether it failed, and what it did in turn. */
type Call = { kind: string; from: string; to: string; value: number; failed?: boolean; calls?: Call[] }

const callTracerKinds: Record<string, string> = { suicide: 'SELFDESTRUCT', create: 'CREATE2' }

function asFrame({ kind, from, to, value, failed, calls = [] }: Call): object {
  const type = callTracerKinds[kind] ?? kind.toUpperCase()
  const error = failed === true ? { error: 'execution reverted' } : {}
  return { type, from, to, value: numberToHex(value), ...error, calls: calls.map(asFrame) }
}

function asActions({ kind, from, to, value, failed, calls = [] }: Call, traceAddress: number[]): object[] {
  const amount = numberToHex(value)
  const error = failed === true ? { error: 'Reverted' } : {}
  const reported =
    kind === 'suicide'
      ? { type: kind, action: { address: from, refundAddress: to, balance: amount } }
      : kind === 'create'
        ? { type: kind, action: { from, value: amount }, result: failed === true ? null : { address: to } }
        : { type: 'call', action: { callType: kind, from, to, value: amount } }
  const inner = calls.flatMap((call, place) => asActions(call, [...traceAddress, place]))
  return [{ ...reported, ...error, traceAddress, transactionHash: tx, blockHash: hash }, ...inner]
}

function readBoth(root: Call) {
  const block = { hash, txs: [tx] }
  const answers = [[{ txHash: tx, result: asFrame(root) }], asActions(root, [])]
  return dialects.map(({ read }, place) => read(answers[place], block))
}

type Party = 'payer' | 'one' | 'two' | 'three'

const root: Call = { kind: 'call', from: payer, to: one, value: 9 }

test.each<[string, Call, [Party, Party, bigint][]]>([
  ['the payment by the transaction itself is not inside of it', root, []],
  [
    'calls are in the order they were made, those inside of one before the next',
    {
      ...root,
      calls: [
        {
          kind: 'call',
          from: one,
          to: two,
          value: 1,
          calls: [{ kind: 'call', from: two, to: three, value: 2 }],
        },
        { kind: 'call', from: one, to: three, value: 3 },
      ],
    },
    [
      ['one', 'two', 1n],
      ['two', 'three', 2n],
      ['one', 'three', 3n],
    ],
  ],
  [
    'delegated calls, borrowed code, views, no value and payments to itself move nothing, and count for no place',
    {
      ...root,
      value: 0,
      calls: [
        { kind: 'delegatecall', from: one, to: two, value: 9 },
        { kind: 'callcode', from: one, to: two, value: 9 },
        { kind: 'staticcall', from: one, to: two, value: 0 },
        { kind: 'call', from: one, to: two, value: 0 },
        { kind: 'call', from: one, to: one, value: 4 },
        { kind: 'suicide', from: one, to: one, value: 4 },
        { kind: 'call', from: one, to: two, value: 5 },
      ],
    },
    [['one', 'two', 5n]],
  ],
  [
    'what failed has undone all that is inside of it, and nothing else',
    {
      ...root,
      calls: [
        {
          kind: 'call',
          from: one,
          to: two,
          value: 1,
          failed: true,
          calls: [{ kind: 'call', from: two, to: three, value: 1 }],
        },
        { kind: 'create', from: one, to: two, value: 1, failed: true },
        { kind: 'call', from: one, to: three, value: 2 },
      ],
    },
    [['one', 'three', 2n]],
  ],
  [
    'a transaction that failed moved nothing',
    { ...root, failed: true, calls: [{ ...root, from: one, to: two }] },
    [],
  ],
  [
    'what a new contract is given and an old one leaves are moved, also by a transaction that makes a contract',
    {
      kind: 'create',
      from: payer,
      to: one,
      value: 7,
      calls: [
        { kind: 'create', from: one, to: two, value: 3 },
        { kind: 'suicide', from: one, to: three, value: 4 },
      ],
    },
    [
      ['payer', 'one', 7n],
      ['one', 'two', 3n],
      ['one', 'three', 4n],
    ],
  ],
])('in either dialect, %s', (_what, called, moved) => {
  const named = { payer, one, two, three }
  const expected = moved.map(([from, to, value], position) => ({
    tx,
    position,
    from: named[from],
    to: named[to],
    value,
  }))
  expect(readBoth(called)).toEqual([expected, expected])
})

test.each([
  ['fewer transactions', 0, []],
  ['more transactions', 0, [{ result: asFrame(root) }, { result: asFrame(root) }]],
  ['another transaction', 0, [{ txHash: other, result: asFrame(root) }]],
  ['a transaction that could not be traced', 0, [{ txHash: tx, error: 'timeout' }]],
  ['another block', 1, asActions(root, []).map((action) => ({ ...action, blockHash: other }))],
  ['another transaction', 1, asActions(root, []).map((action) => ({ ...action, transactionHash: other }))],
  ['a part of a transaction', 1, asActions(root, [0])],
])('an answer about %s is not believed', (_what, dialect, answer) => {
  expect(dialects[dialect]?.read(answer, { hash, txs: [tx] })).toBeNull()
})

test('older nodes name no transactions; their order does', () => {
  const calls: Call[] = [{ kind: 'call', from: one, to: two, value: 1 }]
  const traces = [{ result: asFrame(root) }, { result: asFrame({ ...root, calls }) }]
  const inner = dialects[0]?.read(traces, { hash, txs: [tx, other] })
  expect(inner?.map((found) => [found.tx, found.position])).toEqual([[other, 0]])
})

test('rewards of a block belong to no transaction', () => {
  const reward = {
    type: 'reward',
    action: { value: '0x5' },
    traceAddress: [],
    transactionHash: null,
    blockHash: hash,
  }
  expect(dialects[1]?.read([...asActions(root, []), reward], { hash, txs: [tx] })).toEqual([])
})
