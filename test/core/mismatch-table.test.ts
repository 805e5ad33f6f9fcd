import { describe, expect, test } from 'vitest'
import { decide } from '../../src/core/decide.ts'
import { mismatchKinds } from '../../src/core/mismatch.ts'
import { channelApproval, liquidity, policy, walletApproval } from '../support/evidence.ts'
import { coreRows } from '../support/mismatch-rows/core-rows.ts'
import type { Change, Row } from '../support/mismatch-rows/row.ts'
import { late } from '../support/outcome.ts'

/** The kinds of all that is wrong; of what comes on top, policy and time are in place of the first ones. */
function kindsOf(...changes: readonly Change[]): string[] {
  const { evidence, approvals, ...rest } = changes.reduce((sum, change) => ({
    ...sum,
    ...change,
    evidence: [...(sum.evidence ?? []), ...(change.evidence ?? [])],
  }))
  const group = {
    observations: evidence ?? [],
    approvals: [channelApproval, walletApproval, ...(approvals ?? [])],
    known: [],
    booked: [],
  }
  const rules = {
    policy: { ...policy, ...rest.policy },
    routes: [],
    senders: new Set([`arbitrum/${liquidity}`]),
  }
  const { deposits, strays } = decide(group, rules, rest.now ?? late)
  const told = [
    ...deposits.flatMap(({ verdict }) => verdict.mismatches),
    ...strays.map((one) => one.mismatch),
  ]
  return told.map(({ kind }) => kind)
}

describe.each(coreRows)('$kind, where $where', ({ kind, opens, without, ends }: Row) => {
  test('opens', () => {
    expect(kindsOf(opens)).toContain(kind)
  })

  test('does not open without that', () => {
    expect(kindsOf(without)).not.toContain(kind)
  })

  test.each(Object.entries(ends))('ends %s', (_how, change) => {
    expect(kindsOf(opens, change)).not.toContain(kind)
  })
})

test('no kind is said to be ended by a person alone that ends in another way, too', () => {
  const others = coreRows.filter(({ ends }) =>
    Object.keys(ends).some((how) => !how.startsWith('by a person')),
  )
  const kinds = new Set(others.map(({ kind }) => kind))
  expect([...kinds].filter((kind) => mismatchKinds[kind].ends.by === 'person')).toEqual([])
})
