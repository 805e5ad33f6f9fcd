import type { Logger } from 'pino'
import type { Lag } from '../core/lag.ts'
import type { Metrics } from './metrics.ts'
import { observeWebhooks, type WebhookObserver } from './observe-webhooks.ts'

export type Change = {
  kind: string
  severity: string
  network: string | null
  change: 'opened' | 'reopened' | 'resolved' | 'cleared'
}

/** What happens in the daemon, each told once: counted and, where it matters, logged. */
export type Observer = WebhookObserver & {
  rpc: (request: { network: string; method: string; outcome: string; seconds: number }) => void
  rpcNode: (node: { network: string; node: string; score: number }) => void
  pollRequest: (outcome: string) => void
  applied: (applied: Applied) => void
  polled: (reading: { drifts: number; mismatches: readonly Change[] }) => void
  mismatches: (changes: readonly Change[]) => void
  rewound: (network: string) => void
  jobFailed: (job: string, error: unknown) => void
  queueTrouble: (event: { kind: string; error?: unknown; wake?: { name: string } }) => void
}

/** What ended a mismatch; null where it opened. */
const ended: Record<Change['change'], 'evidence' | 'person' | null> = {
  opened: null,
  reopened: null,
  resolved: 'person',
  cleared: 'evidence',
}

export function createObserver(metrics: Metrics, log: Logger): Observer {
  const jobFailed = (name: string, error: unknown): void => {
    metrics.jobFailures.inc({ name })
    log.error({ job: name, err: error }, 'job failed; it runs again')
  }
  const mismatches = (changes: readonly Change[]): void => {
    for (const { kind, severity, network, change } of changes) {
      const how = ended[change]
      if (how === null) metrics.mismatchesOpened.inc({ kind, severity, network: network ?? '' })
      else metrics.mismatchesResolved.inc({ kind, how })
      log.info({ kind, severity, network, change }, 'mismatch')
    }
  }
  return {
    ...observeWebhooks(metrics, log),
    rpc({ network, method, outcome, seconds }) {
      metrics.rpcRequests.inc({ network, method, outcome })
      metrics.rpcSeconds.observe({ network, method }, seconds)
    },
    rpcNode({ network, node, score }) {
      metrics.rpcNodeScore.set({ network, node }, score)
    },
    pollRequest(outcome) {
      metrics.pollRequests.inc({ outcome })
    },
    mismatches,
    applied({ rows, groups, journals, lags, mismatches: changes }) {
      for (const { stage, network, seconds } of lags) metrics.stageLag.observe({ stage, network }, seconds)
      mismatches(changes)
      if (rows + journals > 0) log.debug({ rows, groups, journals }, 'applied')
    },
    polled({ drifts, mismatches: changes }) {
      metrics.pollDrifts.inc(drifts)
      mismatches(changes)
    },
    rewound(network) {
      metrics.chainReorgs.inc({ network })
      log.error({ network }, 'final history changed; what is gone is withdrawn and read again')
    },
    jobFailed,
    queueTrouble({ kind, error, wake }) {
      if (kind === 'job_failed') jobFailed(wake?.name ?? '', error)
      else log.warn({ kind, err: error }, 'queue')
    },
  }
}

type Applied = {
  rows: number
  groups: number
  journals: number
  lags: readonly Lag[]
  mismatches: readonly Change[]
}
