import { expect, test } from 'vitest'
import type { IntakeOutcome } from '../../src/intake/receive-transfer.ts'
import { type QueueState, queueStates } from '../../src/jobs/queue/bullmq.ts'
import type { JobName } from '../../src/jobs/work.ts'
import { jobNames, pollOutcomes, webhookOutcomes } from '../../src/ops/metrics/daemon.ts'
import { metricDescriptions } from '../../src/ops/metrics.ts'
import type { ProviderOutcome } from '../../src/provider/service-call.ts'

// A member that is added to one of these types does not compile here until it is listed.
const jobs: Record<JobName | 'deliver' | 'canary' | 'notify', true> = {
  apply: true,
  scan: true,
  backfill: true,
  verify: true,
  poll: true,
  read: true,
  sweep: true,
  audit: true,
  wallets: true,
  wallet: true,
  prove: true,
  seal: true,
  deliver: true,
  beat: true,
  canary: true,
  notify: true,
}
const intake: Record<IntakeOutcome, true> = {
  stored: true,
  duplicate: true,
  conflicting: true,
  canary: true,
  bad_signature: true,
  bad_timestamp: true,
  not_json: true,
  too_large: true,
  wrong_type: true,
  overloaded: true,
  unavailable: true,
  aborted: true,
}
const provider: Record<ProviderOutcome, true> = {
  ok: true,
  refused: true,
  limited: true,
  failed: true,
  withheld: true,
}

test.each([
  ['jobs', jobNames, Object.keys(jobs)],
  ['answers to webhooks', webhookOutcomes, Object.keys(intake)],
  ['answers of the service', pollOutcomes, Object.keys(provider)],
])(
  'the label of %s lists what the program says, so that nothing of ours is shown as other',
  (_what, listed, said) => {
    expect(listed).toEqual(said)
  },
)

test('the states of the queue are those that it counts', () => {
  const listed = metricDescriptions.find(({ name }) => name === 'depositd_queue_jobs')?.values.state
  expect(listed).toEqual(queueStates satisfies readonly QueueState[])
})
