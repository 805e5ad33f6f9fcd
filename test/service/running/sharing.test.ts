import { expect, test } from 'vitest'
import { createRequestCoalescer } from '../../../src/service/running/requests.ts'

test('who asks for the same before the answer is there gets the same answer, and it is asked for once', async () => {
  const share = createRequestCoalescer()
  const gate = Promise.withResolvers<void>()
  let asked = 0
  const ask = async (): Promise<number> => {
    asked += 1
    await gate.promise
    return asked
  }
  const answers = Promise.all([share('a', ask), share('a', ask), share('b', ask)])
  gate.resolve()
  expect(await answers).toEqual([2, 2, 2])
  expect(await share('a', ask), 'and anew afterwards').toBe(3)
})

const refuse = (): Promise<never> => Promise.reject(new Error('refused'))

test('a failure is shared and not kept', async () => {
  const share = createRequestCoalescer()
  const outcomes = await Promise.allSettled([share('a', refuse), share('a', refuse)])
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(await share('a', () => Promise.resolve(1))).toBe(1)
})
