import { describe, expect, test } from 'vitest'
import { mismatchKinds } from '../../src/core/mismatch.ts'
import { coreRows } from '../support/mismatch-rows/core-rows.ts'
import { type Change, mismatchesOf, type Row } from '../support/mismatch-rows/row.ts'

const kindsOf = (...changes: readonly Change[]) => mismatchesOf(...changes).map(({ kind }) => kind)

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
  expect([...kinds].filter((kind) => mismatchKinds[kind].endsBy === 'person')).toEqual([])
})

test.each(coreRows)('$kind, where $where: carries a loss only if its kind has one', ({ kind, opens }) => {
  const rule = mismatchKinds[kind].loss
  const losses = mismatchesOf(opens).filter((one) => one.kind === kind && one.loss !== null)
  expect(rule === 'measured' || losses.length === 0).toBe(true)
})
