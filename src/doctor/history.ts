import type { Settings } from '../config/settings.ts'
import type { DoctorFinding } from '../presentation/doctor.ts'
import { duration } from '../presentation/text.ts'
import { type HistoryProgress, readHistory } from '../store/chain/history.ts'
import { examined, ok, openExaminedDatabase } from './finding.ts'

type HistoryFinding = DoctorFinding & { history: HistoryProgress }

/** How much of the history of the watched addresses was read, by network. */
export function historyFindings({
  databaseUrl,
  networks,
}: Pick<Settings, 'databaseUrl' | 'networks'>): Promise<readonly DoctorFinding[]> {
  const read = new Set(networks.filter(({ rpcUrls }) => rpcUrls.length > 0).map(({ name }) => name))
  return examined('history', 'see the check of the database', async () => {
    await using db = openExaminedDatabase(databaseUrl)
    const found = await readHistory(db)
    return found
      .filter(({ network }) => read.has(network))
      .map(
        (history): HistoryFinding => ({
          ...ok(`history ${history.network}`, textOf(history)),
          history,
        }),
      )
  })
}

/** A gap that does not close is a mismatch, and no finding here. */
function textOf({ from, to, missing, requests, secondsLeft }: HistoryProgress): string {
  if (missing === 0n) return `everything read from height ${thousands(from)} on`
  const whole = to - from + 1n
  const share = (Number((whole - missing) * 1000n) / Number(whole) / 10).toFixed(1)
  const cost = requests === null ? '' : `, ${thousands(BigInt(requests))} requests so far`
  const left = secondsLeft === null ? '' : `, about ${duration(secondsLeft)} left`
  return `${share}% read: ${thousands(missing)} of ${thousands(whole)} heights missing${cost}${left}`
}

const thousands = (number: bigint) => number.toLocaleString('en-US')
