import { counter, gauge } from './declare.ts'

export const pollOutcomes = ['ok', 'refused', 'limited', 'failed', 'withheld'] as const

export const ofPoll = {
  pollAge: gauge('poll_age_seconds', "Since the service's records were last read completely."),
  pollRequests: counter('poll_requests_total', "Requests to the service's API by how they ended.", {
    labels: { outcome: pollOutcomes },
  }),
  pollDrifts: counter('poll_drifts_total', 'Times that records shifted between pages while they were read.'),
  pollSweepAge: gauge(
    'poll_sweep_age_seconds',
    "Since the last complete reading of all the service's records began.",
  ),
}
