import { expect, test } from 'vitest'
import { parseSettings } from '../../src/config/settings.ts'
import { expectedStreams } from '../../src/jobs/expected-streams.ts'
import { longestPause } from '../../src/jobs/schedule.ts'
import { judgingEnvironment } from '../support/judging-environment.ts'

const expectedOf = (schedule: string) => {
  const environment = {
    ...judgingEnvironment('postgres://x@localhost/x'),
    RPC_BASE: 'http://127.0.0.1:9',
    DEPOSITD_CONFIG: 'settings.yaml',
  }
  const expected = expectedStreams(parseSettings(environment, () => `schedule: { ${schedule} }`))
  return [expected.get('poll'), expected.get('scan/base')]
}

test('what is read often may go unread for five minutes, what is read seldom for two of its pauses', () => {
  expect(expectedOf('')).toEqual([300, 300])
  expect(expectedOf('pollQuiet: 10m')).toEqual([1200, 300])
  expect(expectedOf('poll: "0 0 * * * *"')).toEqual([7200, 300])
  expect(expectedOf('scan: "0 */10 * * * *"')).toEqual([300, 1200])
})

test('the longest pause between ticks counts', () => {
  expect(longestPause('*/5 * * * * *')).toBe(5)
  expect(longestPause('0 0,20 * * * *')).toBe(2400)
  expect(longestPause('0 0 0 * * *')).toBeGreaterThanOrEqual(86_400)
})
