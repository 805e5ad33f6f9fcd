import { expect, test } from 'vitest'
import { judge, type Line, limits, type Soaked } from './judge.ts'
import { slopeOf } from './line.ts'

test('a straight line is found through points that stray from it', () => {
  const points = [0, 1, 2, 3].map((at) => ({ at, value: 5 + 2 * at + (at % 2 === 0 ? 0.5 : -0.5) }))
  expect(slopeOf(points)).toBeCloseTo(1.8)
  expect(slopeOf([{ at: 1, value: 7 }])).toBe(0)
})

const hour = 3_600_000

/** Of a process that grows by so many megabytes per hour, over half an hour. */
function soaked(growth: number, changes: Partial<Soaked> = {}): Soaked {
  const samples = [0, 0.1, 0.2, 0.3, 0.4, 0.5].map((hours) => ({
    at: hours * hour,
    processes: [{ name: 'worker', pid: 1, residentBytes: (100 + growth * hours) * 1e6, loopMs: 12 }],
    queue: { keys: 20, bytes: 5_000_000, jobs: 4, jobBytes: 2000 },
    oldestSeconds: 0,
  }))
  return {
    minutes: 30,
    samples,
    tables: [{ table: 'public.deposit', live: 100, dead: 200, bytes: 8192 }],
    deposits: 100,
    walBytes: 2_000_000,
    mismatches: {},
    contradictions: [],
    ...changes,
  }
}

const passed = (lines: readonly Line[]) =>
  lines.filter(({ isHeld }) => isHeld === false).map(({ what }) => what)

test.each<[string, Soaked, string[]]>([
  ['nothing that grows', soaked(0), []],
  ['memory that grows', soaked(limits.memoryMbPerHour + 1), ['resident memory of worker, MB/h']],
  ['growth in a run too short to tell', soaked(900, { minutes: 1 }), []],
  [
    'dead rows that are not cleared',
    soaked(0, { tables: [{ table: 'public.deposit', live: 10, dead: limits.deadRows + 1, bytes: 1 }] }),
    ['dead rows of public.deposit'],
  ],
  ['no deposits', soaked(0, { deposits: 0 }), ['deposits']],
  [
    'books that are wrong',
    soaked(0, { contradictions: ['I3 zero'] }),
    ['contradictions found by the oracle'],
  ],
])('a soak with %s is judged so', (_what, given, expected) => {
  expect(passed(judge(given))).toEqual(expected)
})

test('what a job takes in the queue is told of the last moment at which it held any', () => {
  const { samples } = soaked(0)
  const empty = { keys: 3, bytes: 9000, jobs: 0, jobBytes: 0 }
  const atRest = samples.map((sample, index) => (index === 5 ? { ...sample, queue: empty } : sample))
  const reported = judge(soaked(0, { samples: atRest })).find(({ what }) => what.includes('per job'))
  expect(reported?.measured).toBe('500 (4 held)')
})
