import type { Logger } from 'pino'
import type { Lag } from '../core/lag.ts'
import type { Metrics } from './metrics.ts'

export type Change = { kind: string; severity: string; network: string | null; change: 'opened' | 'cleared' }

/** What happens in the daemon, each told once: counted and, where it matters, logged. */
export type Observer = ReturnType<typeof createObserver>

export function createObserver(metrics: Metrics, log: Logger) {
  return {
    webhook({ outcome, seconds, reason }: { outcome: string; seconds: number; reason?: string }) {
      metrics.webhooks.inc({ outcome })
      metrics.webhookAck.observe(seconds)
      if (outcome !== 'stored' && outcome !== 'duplicate') log.warn({ outcome, reason }, 'webhook refused')
    },
    rpc({
      network,
      method,
      outcome,
      seconds,
    }: {
      network: string
      method: string
      outcome: string
      seconds: number
    }) {
      metrics.rpcRequests.inc({ network, method, outcome })
      metrics.rpcSeconds.observe({ network, method }, seconds)
    },
    pollRequest(outcome: string) {
      metrics.pollRequests.inc({ outcome })
    },
    applied({ rows, groups, journals, lags, mismatches }: Applied) {
      for (const { stage, network, seconds } of lags) metrics.stageLag.observe({ stage, network }, seconds)
      for (const { kind, severity, network, change } of mismatches) {
        if (change === 'cleared') metrics.mismatchesResolved.inc({ kind, how: 'evidence' })
        else metrics.mismatchesOpened.inc({ kind, severity, network: network ?? '' })
        log.info({ kind, severity, network, change }, 'mismatch')
      }
      if (rows + journals > 0) log.debug({ rows, groups, journals }, 'applied')
    },
    rewound(network: string) {
      metrics.chainReorgs.inc({ network })
      log.error({ network }, 'final history changed; what is gone is withdrawn and read again')
    },
    jobFailed(job: string, error: unknown) {
      metrics.jobFailures.inc({ job })
      log.error({ job, err: error }, 'job failed; it runs again')
    },
    queueTrouble(event: { kind: string; error?: unknown }) {
      log.warn({ kind: event.kind, err: event.error }, 'queue')
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
