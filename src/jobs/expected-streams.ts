import type { Settings } from '../config/settings.ts'
import { streamAgeMaxSeconds } from '../core/health.ts'
import { scanStream } from './chain/scan-position.ts'
import { pollStream } from './poll/poll-position.ts'
import { longestPause } from './schedule.ts'

/** All streams that these settings read, with the maximum age of each in seconds. */
export function expectedStreams({
  networks,
  schedule,
  poll,
}: Pick<Settings, 'networks' | 'schedule' | 'poll'>): Map<string, number> {
  const read = networks.filter(({ rpcUrls }) => rpcUrls.length > 0)
  const pollEvery = Math.max(longestPause(schedule.poll), poll.quietMs / 1000)
  const scanMax = allowedAge(streamAgeMaxSeconds, longestPause(schedule.scan))
  return new Map([
    [pollStream, allowedAge(streamAgeMaxSeconds, pollEvery)],
    ...read.map(({ name }) => [scanStream(name), scanMax] as const),
  ])
}

/** A rare event may be missed once before it counts as overdue. */
export function allowedAge(usual: number, everySeconds: number): number {
  return Math.max(usual, 2 * everySeconds)
}
