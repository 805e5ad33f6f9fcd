import type { Logger } from 'pino'
import type { Lag } from '../core/lag.ts'
import { tell } from '../log/tell.ts'
import type { Exemplar } from './metrics/declare.ts'
import type { Metrics } from './metrics.ts'
import { type JobObserver, observeJobs } from './observe-jobs.ts'
import { observeWebhooks, type WebhookObserver } from './observe-webhooks.ts'
import { type AppliedTrail, tellApplied } from './tell-applied.ts'

export type MismatchTransition = {
  kind: string
  severity: string
  network: string | null
  change: 'opened' | 'reopened' | 'resolved' | 'cleared'
}

type ObservedRpcRequest = { network: string; node: string; method: string; outcome: string; seconds: number }

type ObservedOddLog = { network: string; reason: string; contract: string; tx: string | null }

type ObservedUnreadTransaction = { network: string; reason: string; slot: bigint; tx: string | null }

/** What happens in the daemon, each told once: counted and, where it matters, logged. */
export type Observer = WebhookObserver &
  JobObserver & {
    rpc: (request: ObservedRpcRequest) => void
    rpcNode: (node: { network: string; node: string; score: number }) => void
    oddLog: (log: ObservedOddLog) => void
    unread: (transaction: ObservedUnreadTransaction) => void
    pollRequest: (outcome: string) => void
    applied: (applied: ObservedBatch) => void
    polled: (reading: { drifts: number; mismatches: readonly MismatchTransition[] }) => void
    mismatches: (changes: readonly MismatchTransition[]) => void
    rewound: (network: string) => void
    /** An answer of the ops port failed by a fault of the program. */
    opsFailed: (path: string, error: unknown) => void
    /** A part of what a scrape shows could not be read. */
    gaugesUnreadable: (part: string, error: unknown) => void
    /** A start waits for a server that it cannot reach. */
    serverAwaited: (error: unknown) => void
  }

/** What ended a mismatch; null where it opened. */
const ended: Record<MismatchTransition['change'], 'evidence' | 'person' | null> = {
  opened: null,
  reopened: null,
  resolved: 'person',
  cleared: 'evidence',
}

/** Paths come from outside. */
const pathShown = 100

export function createObserver(metrics: Metrics, log: Logger): Observer {
  const mismatches = observeMismatches(metrics, log)
  return {
    ...observeWebhooks(metrics, log),
    ...observeChains(metrics, log),
    ...observeJobs(metrics, log),
    pollRequest(outcome) {
      metrics.pollRequests.inc({ outcome })
    },
    mismatches,
    applied(applied) {
      const { lags, mismatches: changes } = applied
      for (const { stage, network, seconds, of } of lags)
        metrics.stageLag.observe({ stage, network }, seconds, exemplarOf(of))
      mismatches(changes)
      tellApplied(log, applied)
    },
    polled({ drifts, mismatches: changes }) {
      metrics.pollDrifts.inc({}, drifts)
      mismatches(changes)
    },
    opsFailed(path, error) {
      tell(log, 'ops_request_failed', { path: path.slice(0, pathShown), err: error })
    },
    gaugesUnreadable(part, error) {
      tell(log, 'gauges_unreadable', { part, err: error })
    },
    serverAwaited(error) {
      tell(log, 'server_awaited', { err: error })
    },
  }
}

type ChainObserver = Pick<Observer, 'rpc' | 'rpcNode' | 'oddLog' | 'unread' | 'rewound'>

function observeChains(metrics: Metrics, log: Logger): ChainObserver {
  return {
    rpc({ network, node, method, outcome, seconds }) {
      metrics.rpcRequests.inc({ network, method, outcome })
      metrics.rpcNodeRequests.inc({ network, node, outcome })
      metrics.rpcSeconds.observe({ network, method }, seconds)
    },
    rpcNode({ network, node, score }) {
      metrics.rpcNodeScore.set({ network, node }, score)
    },
    oddLog({ network, reason, contract, tx }) {
      metrics.chainLogsPassedOver.inc({ network, reason })
      tell(log, 'odd_log', { network, reason, contract, tx })
    },
    unread({ network, reason, slot, tx }) {
      tell(log, 'transaction_unread', { network, reason, slot: slot.toString(), tx })
    },
    rewound(network) {
      metrics.chainReorgs.inc({ network })
      tell(log, 'history_changed', { network })
    },
  }
}

function observeMismatches(metrics: Metrics, log: Logger): Observer['mismatches'] {
  return (changes) => {
    for (const { kind, severity, network, change } of changes) {
      const how = ended[change]
      if (how === null) metrics.mismatchesOpened.inc({ kind, severity, network: network ?? '' })
      else metrics.mismatchesResolved.inc({ kind, how })
      tell(log, 'mismatch_changed', { kind, severity, network, change })
    }
  }
}

type ObservedBatch = AppliedTrail & { lags: readonly Lag[]; mismatches: readonly MismatchTransition[] }

/** By what the one that was measured is found: a deposit by its number, a message by its row of the inbox. */
function exemplarOf(of: Lag['of']): Exemplar {
  if (of === undefined) return {}
  return 'depositId' in of ? { deposit_id: of.depositId.toString() } : { inbox: `inbox/${of.inboxId}` }
}
