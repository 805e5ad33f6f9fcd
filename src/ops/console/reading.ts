import type { DepositRow, ToldDeposit } from '../../telling/told-deposit.ts'
import type { PeriodRow, SealRow, TrialBalanceRow } from '../../telling/told-ledger.ts'
import type { MismatchRow, ToldMismatch } from '../../telling/told-mismatch.ts'
import type { Explanation } from '../../telling/told-reasons.ts'
import type { ReadGauges } from '../read-gauges.ts'
import type { Answer } from '../readiness.ts'

/** What metrics show; null of what could not be read. */
export type Gauges = Awaited<ReturnType<ReadGauges>>

/** How it stands: what metrics show, what works, and what is to be looked at first. */
export type Overview = {
  readAt: Date
  gauges: Gauges
  health: Answer
  gravest: Part<readonly MismatchRow[]>
  latest: Part<readonly DepositRow[]>
}

export type MismatchesWish = {
  kind?: string | undefined
  severity?: string | undefined
  network?: string | undefined
  status: 'open' | 'snoozed' | 'all'
  /** The last one of the page before. */
  after?: bigint | undefined
  limit: number
}

export type DepositsWish = {
  state?: string | undefined
  owner?: string | undefined
  network?: string | undefined
  /** The last one of the page before. */
  before?: bigint | undefined
  limit: number
}

export type ShownDeposit = ToldDeposit & {
  id: bigint
  explanation: Explanation
  /** Whether there is more evidence than is shown. */
  isCut: boolean
}

/** What could be read of one part of a page, or why it could not. */
export type Part<Value> = { value: Value } | { problem: string }

export type LedgerReading = {
  readAt: Date
  trial: Part<{ lines: readonly TrialBalanceRow[]; totals: readonly TrialBalanceRow[] }>
  periods: Part<readonly PeriodRow[]>
  seals: Part<readonly SealRow[]>
}

/** What the console asks. Each reads in a bounded number of statements, and throws Fault `remote_failed` where it cannot. */
export type ConsoleReader = {
  version: string
  /** The address of Grafana as others open it; null if there is none. */
  dashboards: string | null
  /** Those that the settings name. */
  networks: readonly string[]
  overview: () => Promise<Overview>
  mismatches: (wish: MismatchesWish) => Promise<readonly MismatchRow[]>
  mismatch: (id: bigint) => Promise<ToldMismatch | null>
  deposits: (wish: DepositsWish) => Promise<readonly DepositRow[]>
  /** The numbers of deposits by our number, the service's id, or a transaction. */
  findDeposits: (reference: string) => Promise<readonly bigint[]>
  deposit: (id: bigint) => Promise<ShownDeposit | null>
  ledger: () => Promise<LedgerReading>
  /** What the runbook says of a kind, in Markdown; empty where it is not at hand. */
  runbook: (kind: string) => string
}
