import { expect, test } from 'vitest'
import {
  compareSchema,
  type HealthExpectations,
  judgeDatabase,
  judgeVitals,
  type Vitals,
} from '../src/health.ts'

const vitals: Vitals = {
  migrations: ['0025_older_contract', '0026_last'],
  isReadOnly: false,
  inboxOldest: 0,
  ages: new Map([
    ['scheduler', 1.9],
    ['worker', 2],
    ['poll', 3],
    ['scan/base', 4],
  ]),
}
const streams = new Map([
  ['poll', 300],
  ['scan/base', 300],
])
const own = ['0025_older_contract', '0026_last']
const expected: HealthExpectations = { migrations: own, streams, waited: 0 }

function judged(changes: Partial<Vitals>, wanted: Partial<HealthExpectations> = {}): string[] {
  return judgeVitals({ ...vitals, ...changes }, { ...expected, ...wanted }).map(
    ({ part, state, says }) => `${part} ${state}: ${says}`,
  )
}

const aged = (part: string, age: number) => ({ ages: new Map([...vitals.ages, [part, age]]) })

test('where all is well, every part says so', () => {
  expect(judged({})).toEqual([
    'schema fine: at 0026_last',
    'inbox fine: nothing waits to be applied',
    'scheduler fine: last tick 1 s ago',
    'worker fine: last job 2 s ago',
    'poll fine: last complete reading 3 s ago',
    'scan/base fine: last complete reading 4 s ago',
  ])
})

test.each<[string, Partial<Vitals>, string]>([
  ['no schema', { migrations: [] }, 'schema fault: is not created yet'],
  [
    'an older schema',
    { migrations: ['0025_older_contract'] },
    'schema fault: at 0025_older_contract; this version needs 0026_last',
  ],
  [
    'a schema that other files made',
    { migrations: ['0025_other', '0026_last', '0027_x'] },
    'schema fault: has 0027_x, which this version does not know',
  ],
  [
    'a newer schema, as while a newer version takes over',
    { migrations: [...own, '0027_x'] },
    'schema warning: at 0027_x, from a newer version; this version knows 0026_last',
  ],
  [
    'a newer schema that something was taken from',
    { migrations: [...own, '0027_x_contract', '0028_x'] },
    'schema warning: at 0028_x, from a newer version; this version knows 0026_last; this version cannot start again, because 0027_x_contract removed something that it uses',
  ],
  [
    'rows that wait within bounds',
    { inboxOldest: 60 },
    'inbox fine: the oldest row has waited 60 s to be applied',
  ],
  [
    'rows that wait too long',
    { inboxOldest: 61 },
    'inbox fault: the oldest row has waited 61 s to be applied; the limit is 60 s',
  ],
  [
    'a scheduler that is gone',
    aged('scheduler', 61),
    'scheduler fault: last tick 61 s ago; the limit is 60 s',
  ],
  ['a worker that is gone', aged('worker', 61), 'worker fault: last job 61 s ago; the limit is 60 s'],
  [
    'a network that is not read',
    aged('scan/base', 301),
    'scan/base fault: last complete reading 301 s ago; the limit is 300 s',
  ],
])('%s', (_what, changes, line) => {
  expect(judged(changes)).toContain(line)
})

test('a stream that is to be read less often may go unread for longer', () => {
  const seldom = { streams: new Map([...streams, ['poll', 1200]]) }
  expect(judged(aged('poll', 1200), seldom)).toContain('poll fine: last complete reading 1200 s ago')
  expect(judged(aged('poll', 1201), seldom)).toContain(
    'poll fault: last complete reading 1201 s ago; the limit is 1200 s',
  )
})

test('a database that takes nothing is a fault', () => {
  expect(judgeDatabase({ isReadOnly: false }).state).toBe('fine')
  expect(judgeDatabase({ isReadOnly: true }).state).toBe('fault')
})

test('what never came is awaited for as long as it may take, and is a fault from then on', () => {
  const never = { ages: new Map() }
  expect(judged(never, { waited: 60 })).toContain('worker fine: no job yet')
  expect(judged(never, { waited: 61 })).toContain('worker fault: no job for 61 s; the limit is 60 s')
  expect(judged(never, { waited: 61 })).toContain('poll fine: no complete reading yet')
  expect(judged(never, { waited: 301 })).toContain(
    'poll fault: no complete reading for 301 s; the limit is 300 s',
  )
  expect(judged(never, { waited: null })).toContain('poll warning: no complete reading so far')
})

const migrations = ['0001_evidence', '0002_migrationsers', '0003_rights']

test.each([
  ['nothing', [], { kind: 'missing' }],
  ['the first of them', ['0001_evidence'], { kind: 'behind', at: '0001_evidence' }],
  ['all, in any order', migrations.toReversed(), { kind: 'current', at: '0003_rights' }],
  [
    'more, which only added',
    [...migrations, '0004_more'],
    { kind: 'newer', at: '0004_more', contract: null },
  ],
  [
    'more, of which two took something away',
    [...migrations, '0004_a_contract', '0005_b_contract', '0006_more'],
    { kind: 'newer', at: '0006_more', contract: '0005_b_contract' },
  ],
  ['others after the first', ['0001_evidence', '0002_deposits'], { kind: 'unknown', at: '0002_deposits' }],
  ['others, and all of ours', [...migrations, '0002_deposits'], { kind: 'unknown', at: '0002_deposits' }],
  ['others, and more of them', ['0001_other', '0037_other'], { kind: 'unknown', at: '0037_other' }],
  ['ours with a gap', ['0001_evidence', '0003_rights'], { kind: 'unknown', at: '0003_rights' }],
])('a database that was brought up by %s', (_what, applied, state) => {
  expect(compareSchema(applied, migrations)).toEqual(state)
})
