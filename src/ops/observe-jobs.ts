import type { Logger } from 'pino'
import { type FaultCode, isFault, lineOf } from '../core/errors.ts'
import { tell } from '../log/tell.ts'
import type { Metrics } from './metrics.ts'

export type JobObserver = {
  /** A run of a job failed, or could not be asked for. `key` says of what: a network, or nothing. */
  jobFailed: (job: string, error: unknown, key?: string) => void
  queueTrouble: (event: QueueTrouble) => void
}

type QueueTrouble = { kind: string; error?: unknown; wake?: { name: string; key?: string } }

/** What fails is tried again and again: every failure is counted, and a problem is logged when it comes up. */
export function observeJobs(metrics: Metrics, log: Logger, now = () => performance.now()): JobObserver {
  const problems = createProblems(now)
  const jobFailed = (job: string, error: unknown, key = ''): void => {
    metrics.jobFailures.inc({ name: job })
    const problem = lineOf(error)
    const failures = problems.noted(`job ${key} ${problem}`)
    if (failures === null) return
    tell(log, 'job_failed', { job, key, problem, help: helpWith(job, error), failures, err: error })
  }
  return {
    jobFailed,
    queueTrouble({ kind, error, wake }) {
      if (kind === 'job_failed') {
        jobFailed(wake?.name ?? '', error, wake?.key)
        return
      }
      const failures = problems.noted(`queue ${kind} ${lineOf(error)}`)
      if (failures !== null) tell(log, 'queue_trouble', { kind, failures, err: error })
    },
  }
}

/** A problem that did not come up for so long is over. No pause between two attempts is as long. */
const overAfterMs = 300_000
/** One that lasts is logged again after so long. */
const remindAfterMs = 3_600_000
/** As many are remembered; those whose texts hold something new each time push out others. */
const problemsMax = 200

type JobFailureTally = { failures: number; seenAt: number; loggedAt: number }

/** How often a problem came up, if it is to be logged now; null if it was logged already, and is not over. */
function createProblems(now: () => number): { noted: (text: string) => number | null } {
  const known = new Map<string, JobFailureTally>()
  return {
    noted(text) {
      const at = now()
      const shape = shapeOf(text)
      const before = known.get(shape)
      const isOver = before === undefined || at - before.seenAt > overAfterMs
      const failures = isOver ? 1 : before.failures + 1
      const isLogged = !isOver && at - before.loggedAt < remindAfterMs
      known.delete(shape)
      known.set(shape, { failures, seenAt: at, loggedAt: isLogged ? before.loggedAt : at })
      const [oldest] = known.keys()
      if (known.size > problemsMax && oldest !== undefined) known.delete(oldest)
      return isLogged ? null : failures
    },
  }
}

/** Heights, times, counts and ids differ from one attempt to the next. */
function shapeOf(text: string): string {
  return text.replaceAll(/[\w-]*\d[\w-]*/g, '#').slice(0, 1000)
}

const pagesOfCodes: Partial<Record<FaultCode, string>> = {
  settings_bad: 'docs/settings.md',
  history_lost: 'docs/mismatches.md#history_lost',
  rpc_disagreement: 'docs/mismatches.md#rpc_disagreement',
}

const pagesOfJobs: ReadonlyMap<string, string> = new Map([
  ['scan', 'docs/runbook.md#depositdchainnotread'],
  ['verify', 'docs/runbook.md#depositdchainnotread'],
  ['backfill', 'docs/mismatches.md#coverage_gap'],
  ['poll', 'docs/runbook.md#depositdpolldead'],
  ['read', 'docs/runbook.md#depositdpolldead'],
  ['apply', 'docs/runbook.md#depositdinboxnotdrained'],
  ['seal', 'docs/runbook.md#depositdsealoverdue'],
  ['canary', 'docs/canary.md'],
])

/** The page that says what to do. */
export function helpWith(job: string, error: unknown): string {
  const named = isFault(error, 'remote_failed') ? error.details.help : undefined
  const code = Object.entries(pagesOfCodes).find(([one]) => isFault(error, one as FaultCode))
  return named ?? code?.[1] ?? pagesOfJobs.get(job) ?? 'docs/runbook.md#depositdjobfailing'
}
