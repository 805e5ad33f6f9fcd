import { expect, test } from 'vitest'
import { compareSchema } from '../../src/core/schema.ts'

const own = ['0001_evidence', '0002_owners', '0003_rights']

test.each([
  ['nothing', [], { kind: 'missing' }],
  ['the first of them', ['0001_evidence'], { kind: 'behind', at: '0001_evidence' }],
  ['all, in any order', own.toReversed(), { kind: 'current', at: '0003_rights' }],
  ['more, which only added', [...own, '0004_more'], { kind: 'newer', at: '0004_more', contract: null }],
  [
    'more, of which two took something away',
    [...own, '0004_a_contract', '0005_b_contract', '0006_more'],
    { kind: 'newer', at: '0006_more', contract: '0005_b_contract' },
  ],
  ['others after the first', ['0001_evidence', '0002_deposits'], { kind: 'unknown', at: '0002_deposits' }],
  ['others, and all of ours', [...own, '0002_deposits'], { kind: 'unknown', at: '0002_deposits' }],
  ['others, and more of them', ['0001_other', '0037_other'], { kind: 'unknown', at: '0037_other' }],
  ['ours with a gap', ['0001_evidence', '0003_rights'], { kind: 'unknown', at: '0003_rights' }],
])('a database that was brought up by %s', (_what, applied, state) => {
  expect(compareSchema(applied, own)).toEqual(state)
})
