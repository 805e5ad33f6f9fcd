import type { OpenCause } from '../../core/cause.ts'
import type { Owner } from '../../core/evidence.ts'
import type { SavedView, ViewPage } from '../../core/saved-view.ts'
import type { DepositDetail, DepositListRow, TransferLine } from '../../presentation/deposit.ts'
import type { DoctorFinding } from '../../presentation/doctor.ts'
import type { journalKinds } from '../../presentation/journal.ts'
import type { CheckpointRow, PeriodRow, StatementRow, TrialBalanceRow } from '../../presentation/ledger.ts'
import type { MismatchDetail, MismatchRow } from '../../presentation/mismatch.ts'
import type { Explanation } from '../../presentation/reasons.ts'
import type { Fact, ServicesShown } from '../../presentation/text.ts'
import type { ProposalLine } from '../../store/books/proposals.ts'
import type { ChartFigures } from '../../store/charts.ts'
import type { BookedJournal, JournalLine } from '../../store/ledger/journals.ts'
import type { MentionFilter, MentionLine } from '../../store/mismatches/mentions.ts'
import type { CaseAct } from '../../store/mismatches/undo.ts'
import type { OwnerLine } from '../../store/owners.ts'
import type { QuarantinedRow, QuarantineLine } from '../../store/quarantine.ts'
import type { ScorecardLine } from '../../store/scorecard.ts'
import type { StoredRuleSet } from '../../store/streams.ts'
import type { ReportedGauges } from '../gauges.ts'
import type { ReadinessReport } from '../readiness.ts'

export type Overview = {
  readAt: Date
  gauges: ReportedGauges
  health: ReadinessReport
  gravest: SectionResult<readonly MismatchRow[]>
  latest: SectionResult<readonly DepositListRow[]>
  charts: SectionResult<ChartFigures>
}

export type ConsoleMismatchFilter = {
  kind?: string | undefined
  severity?: string | undefined
  /** `none` for those of no single one. */
  service?: string | undefined
  network?: string | undefined
  status: 'open' | 'snoozed' | 'all'
  /** A name, or `nobody`. */
  assigned?: string | undefined
  overdue?: 'yes' | undefined
  /** When it was opened: ISO times, the second one not included. */
  since?: string | undefined
  until?: string | undefined
  /** The last row of the previous page. */
  after?: bigint | undefined
  limit: number
}

export type ConsoleDepositFilter = {
  state?: string | undefined
  owner?: string | undefined
  service?: string | undefined
  network?: string | undefined
  /** The last row of the previous page. */
  before?: bigint | undefined
  limit: number
}

export type ConsoleAddressFilter = {
  kind: Owner['kind']
  service?: string | undefined
  /** The last row of the previous page: `id/network/address`. */
  after?: string | undefined
  limit: number
}

/** Days in UTC, both included. */
export type ConsoleStatementFilter = { owner: string; from: string; to: string; limit: number }

export type ConsoleProposalFilter = {
  service?: string | undefined
  /** The last row of the previous page. */
  after?: bigint | undefined
  limit: number
}

export type ConsoleQuarantineFilter = {
  service?: string | undefined
  before?: bigint | undefined
  limit: number
}

export type ConsoleDeposit = DepositDetail & {
  id: bigint
  explanation: Explanation
  /** The evidence shown is not all. */
  isCut: boolean
}

export type SectionResult<Value> = { value: Value } | { problem: string }

export type LedgerReading = {
  readAt: Date
  trial: SectionResult<{ lines: readonly TrialBalanceRow[]; totals: readonly TrialBalanceRow[] }>
  periods: SectionResult<readonly PeriodRow[]>
  checkpoints: SectionResult<readonly CheckpointRow[]>
}

/** Without secrets, and without addresses that may hold one. */
export type ConsoleSettings = {
  /** The newest first. */
  rules: readonly StoredRuleSet[]
  /** The policy of the settings waits for approval. */
  isWaiting: boolean
  services: readonly { name: string; host: string; profile: string; signing: string; isPaused: boolean }[]
  others: readonly Fact[]
}

export type ConsoleNetwork = { name: string; chain: string; assets: readonly string[]; nodes: number }

export type ConsoleJournalFilter = {
  /** A month like `2026-01`. */
  period?: string | undefined
  kind?: (typeof journalKinds)[number] | undefined
  by?: string | undefined
  /** The last row of the previous page. */
  before?: bigint | undefined
  limit: number
}

/** A node as this process has seen it since its start. `score`: 1 answers at once and never fails. */
export type NodeLine = { network: string; node: string; score: number; requests: number; errors: number }

/** A booked journal. Amounts are decimals in units. */
export type JournalDetail = Omit<BookedJournal, 'transfers'> & {
  place: string
  transfers: readonly TransferLine[]
}

/** The last examination of this process. */
export type DoctorRun = { at: Date; findings: readonly DoctorFinding[] }

/** Of the settings. */
export type ConsoleChoices = {
  services: readonly string[]
  networks: readonly string[]
  /** Address of a transaction at a block explorer, with `{tx}`, by network. */
  explorers: ReadonlyMap<string, string>
}

/** Each function runs a bounded number of statements. @throws Fault `remote_failed` */
export type ConsoleReader = ConsoleChoices & {
  version: string
  dashboards: string | null
  overview: () => Promise<Overview>
  mismatches: (wish: ConsoleMismatchFilter) => Promise<readonly MismatchRow[]>
  causes: () => Promise<readonly OpenCause[]>
  /** What a person did, by one of its events. */
  act: (event: bigint) => Promise<CaseAct | null>
  mentions: (wish: MentionFilter) => Promise<readonly MentionLine[]>
  mismatch: (id: bigint) => Promise<MismatchDetail | null>
  views: (page: ViewPage) => Promise<readonly SavedView[]>
  deposits: (wish: ConsoleDepositFilter) => Promise<readonly DepositListRow[]>
  /** By depositd's number, the service's id, or a transaction. */
  findDeposits: (reference: string) => Promise<readonly bigint[]>
  deposit: (id: bigint) => Promise<ConsoleDeposit | null>
  /** The evidence bundle. @throws Fault `usage_bad` if it would not verify, or is too large to be made here */
  bundle: (id: bigint) => Promise<{ id: bigint; text: string } | null>
  /** A short delivery with its evidence. @throws Fault `usage_bad` as for a bundle */
  dispute: (
    mismatch: bigint,
  ) => Promise<{ deposit: bigint; files: readonly { name: string; text: string }[] } | null>
  ledger: () => Promise<LedgerReading>
  journals: (wish: ConsoleJournalFilter) => Promise<readonly JournalLine[]>
  journal: (id: bigint) => Promise<JournalDetail | null>
  /** Accounts of the settings, beside those with bookings. */
  ownAccounts: readonly string[]
  /** Of an owner or account. */
  statement: (wish: ConsoleStatementFilter) => Promise<readonly StatementRow[]>
  addresses: (wish: ConsoleAddressFilter) => Promise<readonly OwnerLine[]>
  proposals: (wish: ConsoleProposalFilter) => Promise<readonly ProposalLine[]>
  quarantine: (wish: ConsoleQuarantineFilter) => Promise<readonly QuarantineLine[]>
  webhook: (id: bigint) => Promise<QuarantinedRow | null>
  /** Of the last seven days. */
  scorecard: () => Promise<SectionResult<readonly ScorecardLine[]>>
  settings: () => Promise<ConsoleSettings>
  networkSettings: readonly ConsoleNetwork[]
  nodes: () => Promise<readonly NodeLine[]>
  /** At most one examination at a time, for all who ask. */
  doctor: { last: () => DoctorRun | null; examine: () => Promise<void> }
  /** Markdown; empty if the runbook is not available. */
  runbook: (kind: string) => string
}

export function choicesOf({ services, networks, explorers }: ConsoleReader): ConsoleChoices & ServicesShown {
  return { services, networks, explorers, hasSeveralServices: services.length > 1 }
}
