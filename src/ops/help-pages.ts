import { type FaultCode, isFault } from '../core/errors.ts'

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
  ['deliver', 'docs/runbook.md#depositdeventslate'],
  ['canary', 'docs/canary.md'],
  ['notify', 'docs/how-to/notifications.md'],
])

/** The page that helps with a failure of a job. */
export function helpWith(job: string, error: unknown): string {
  const named = isFault(error, 'remote_failed') ? error.details.help : undefined
  const code = Object.entries(pagesOfCodes).find(([one]) => isFault(error, one as FaultCode))
  return named ?? code?.[1] ?? pagesOfJobs.get(job) ?? 'docs/runbook.md#depositdjobfailing'
}
