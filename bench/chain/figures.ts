import type { Figure } from '../result.ts'
import { type Spread, spreadText } from '../statistics.ts'

type Judged = Spread & { isMet: boolean }

type Read = { overBare: Judged; overSequential: Judged; requests: { overLeast: number; isMet: boolean } }

/** How fast a chain was read, and with how many requests. */
export function readingFigures(
  at: string,
  { overBare, overSequential, requests }: Read,
  targets: { bare: number; sequential: number; requests: number },
): Figure[] {
  const over = (arm: 'bare' | 'sequential', ratio: Judged, decimals: number): Figure => ({
    bench: 'B6',
    what: `${at}ours x ${arm}`,
    target: `at least ${targets[arm]}`,
    measured: spreadText(ratio, decimals),
    isMet: ratio.isMet,
  })
  return [
    over('bare', overBare, 2),
    over('sequential', overSequential, 1),
    {
      bench: 'B6',
      what: `${at}requests x the least`,
      target: `at most ${targets.requests}`,
      measured: requests.overLeast.toFixed(3),
      isMet: requests.isMet,
    },
  ]
}
