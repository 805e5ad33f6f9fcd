import type { DepositDetail, DepositListRow } from '../../presentation/told-deposit.ts'
import type { PeriodRow, SealRow, TrialBalanceRow } from '../../presentation/told-ledger.ts'
import type { MismatchDetail, MismatchRow } from '../../presentation/told-mismatch.ts'
import type { Explanation } from '../../presentation/told-reasons.ts'
import type { ReadGauges } from '../read-gauges.ts'
import type { ReadinessReport } from '../readiness.ts'

/** What metrics show; null of what could not be read. */
export type OverviewGauges = Awaited<ReturnType<ReadGauges>>

/** How it stands: what metrics show, what works, and what is to be looked at first. */
export type Overview = {
  readAt: Date
  gauges: OverviewGauges
  health: ReadinessReport
  gravest: SectionResult<readonly MismatchRow[]>
  latest: SectionResult<readonly DepositListRow[]>
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

export type ConsoleDeposit = DepositDetail & {
  id: bigint
  explanation: Explanation
  /** Whether there is more evidence than is shown. */
  isCut: boolean
}

/** What could be read of one part of a page, or why it could not. */
export type SectionResult<Value> = { value: Value } | { problem: string }

export type LedgerReading = {
  readAt: Date
  trial: SectionResult<{ lines: readonly TrialBalanceRow[]; totals: readonly TrialBalanceRow[] }>
  periods: SectionResult<readonly PeriodRow[]>
  seals: SectionResult<readonly SealRow[]>
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
  mismatch: (id: bigint) => Promise<MismatchDetail | null>
  deposits: (wish: DepositsWish) => Promise<readonly DepositListRow[]>
  /** The numbers of deposits by our number, the service's id, or a transaction. */
  findDeposits: (reference: string) => Promise<readonly bigint[]>
  deposit: (id: bigint) => Promise<ConsoleDeposit | null>
  ledger: () => Promise<LedgerReading>
  /** What the runbook says of a kind, in Markdown; empty where it is not at hand. */
  runbook: (kind: string) => string
}
