import { expect, test } from 'vitest'
import { allFaults } from './all-faults.ts'
import { planOf } from './plan.ts'

const seeds = [0, 1, 4, 7, 81, 123_456]

const titles = (seed: number): string[] => planOf(seed, allFaults).faults.map(({ title }) => title)

test.each(seeds)('seed %i makes the same plan again', (seed) => {
  expect(planOf(seed, allFaults)).toEqual(planOf(seed, allFaults))
})

test('another seed strikes in another order', () => {
  expect(titles(20)).not.toEqual(titles(4))
  expect(titles(20).toSorted()).toEqual(titles(4).toSorted())
})

test.each(seeds)('16 seeds from %i on strike every fault, on each queue on which it matters', (seed) => {
  const struck = Array.from({ length: 16 }, (_, more) => {
    const { backend, faults } = planOf(seed + more, allFaults)
    return faults.map(({ name, title }) => `${backend} ${name} ${title}`)
  }).flat()
  const wanted = (['redis', 'postgres'] as const).flatMap((backend) =>
    allFaults
      .filter((fault) => fault.backend === undefined || fault.backend === backend)
      .map(({ name, title }) => `${backend} ${name} ${title}`),
  )
  expect(struck.toSorted()).toEqual(wanted.toSorted())
})

test('faults that are asked for come with all their variants, and on the queue that is asked for', () => {
  const { backend, faults } = planOf(3, allFaults, { faults: ['F1', 'F4'], backend: 'redis' })
  expect(backend).toBe('redis')
  expect(new Set(faults.map(({ name }) => name))).toEqual(new Set(['F1', 'F4']))
  expect(faults).toHaveLength(allFaults.filter(({ name }) => name === 'F1' || name === 'F4').length)
})

test('no two faults are called the same', () => {
  const names = allFaults.map(({ name, title }) => `${name} ${title}`)
  expect(names).toEqual([...new Set(names)])
})
