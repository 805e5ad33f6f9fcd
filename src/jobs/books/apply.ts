import type { Kysely, Transaction } from 'kysely'
import type { NetworkName } from '../../core/asset.ts'
import { decide, type Rules } from '../../core/decide.ts'
import {
  type Claim,
  decodeObservation,
  idAmongServices,
  itemHeader,
  itemOf,
  linkKeys,
  type Observation,
  type ServiceId,
  type ServiceName,
} from '../../core/evidence.ts'
import { type MeasuredLag, secondsBetween } from '../../core/lag.ts'
import { earliest } from '../../core/time.ts'
import { walletHeader } from '../../core/withdrawal-claim.ts'
import { reach } from '../../failpoint.ts'
import type { WithdrawalEvent } from '../../provider/read-claim.ts'
import type { AnyServiceReader, ServiceReading } from '../../provider/read-evidence.ts'
import { saveCreditSafety } from '../../store/books/credit-safety.ts'
import { numberDeposits, saveDeposits, serviceOfDeposit } from '../../store/books/deposits.ts'
import { type LinkedObservation, loadGroups, saveEvidence } from '../../store/books/evidence.ts'
import { linkGroups, saveRechecks, takeDueGroups } from '../../store/books/groups.ts'
import { saveWithdrawals } from '../../store/books/withdrawals.ts'
import { askChains } from '../../store/chain/leg-searches.ts'
import { inTransaction, preparing } from '../../store/database.ts'
import {
  type BatchLimits,
  finishPending,
  type PendingRow,
  type PendingSelection,
  splitInbox,
  takePending,
  waitingSince,
} from '../../store/inbox.ts'
import { bookJournals } from '../../store/ledger/journals.ts'
import {
  type HeldMismatch,
  type MismatchChange,
  openMismatches,
  syncGroupMismatches,
} from '../../store/mismatches/mismatches.ts'
import type { Tables } from '../../store/tables.ts'
import { holdRules } from './activate-rules.ts'
import { heldMismatches, unreadableMismatch, withdrawalMismatches } from './held-mismatches.ts'
import { clock, type DecisionTrail, type StepTimes, trailsOf } from './trail.ts'

export type ApplyDeps = {
  db: Kysely<Tables>
  readClaim: AnyServiceReader
  /** Those of the settings, for before any were activated. */
  rules: Rules
  /** Null disables chain requests. */
  readNetworks: ReadonlySet<NetworkName> | null
  /** Inbox rows that failed in a transaction of their own. Deadlines do not wait for them. */
  failing?: ReadonlySet<bigint>
  now: () => Date
}

/** `wallet`: its id among services, if the webhook names it. */
type WithdrawingWallet = { service: ServiceName; wallet: string | null }

export type ApplyResult = {
  rows: number
  groups: number
  journals: number
  lags: readonly MeasuredLag[]
  mismatches: readonly MismatchChange[]
  reported: readonly ServiceId[]
  /** Of each webhook about a withdrawal. */
  withdrawing: readonly WithdrawingWallet[]
  named: readonly NetworkName[]
  taken: readonly Pick<PendingRow, 'id' | 'source'>[]
  trails: readonly DecisionTrail[]
  times: StepTimes
}

export const batchMax: BatchLimits = { rowsMax: 2000, bytesMax: 8_000_000 }
const groupsMax = 500
const nothingTaken = { rows: 0, taken: [], reported: [], withdrawing: [] } as const

/** One batch, or one row. Safe to run twice and concurrently. */
export function applyPending(deps: ApplyDeps, selection: PendingSelection = batchMax): Promise<ApplyResult> {
  return inTransaction(preparing(deps.db), async (tx) => {
    const begunAt = clock()
    const rows = await takePending(tx, selection)
    if (rows.length === 0) return { ...nothingDecided(begunAt), ...nothingTaken }
    const now = deps.now()
    const { readable, unreadable, withdrawing, decided } = await applyRows(tx, rows, deps)
    const opened = await openMismatches(tx, unreadable)
    const ids = rows.map(({ id }) => id)
    await finishPending(tx, ids)
    return {
      ...decided,
      rows: rows.length,
      taken: rows.map(({ id, source }) => ({ id, source })),
      times: { ...decided.times, begunAt },
      mismatches: [...decided.mismatches, ...opened],
      reported: readable.flatMap(({ observation: one }) =>
        one.kind === 'claim' && one.source === 'webhook' ? [one.serviceId] : [],
      ),
      withdrawing,
      lags: [
        ...decided.lags,
        ...readable.flatMap(({ row, observation }) => messageLags(row, observation, now)),
      ],
    }
  })
}

/** The clock is the time up to which all received rows are applied. */
export function applyDue(deps: ApplyDeps): Promise<ApplyResult> {
  return inTransaction(preparing(deps.db), async (tx) => {
    const now = deps.now()
    const completeUntil = await waitingSince(tx, [...(deps.failing ?? [])])
    const groups = await takeDueGroups(tx, earliest([now, completeUntil]) ?? now, groupsMax)
    const rules = await holdRules(tx, deps.rules)
    return {
      ...(await decideGroups(tx, { groups, now, completeUntil }, { ...deps, rules })),
      ...nothingTaken,
    }
  })
}

/** The caller handles unreadable rows. Further items of a payload are left pending. */
export async function applyRows(tx: Transaction<Tables>, rows: readonly PendingRow[], deps: ApplyDeps) {
  const { groups, saved, lists, ...payloads } = await saveRows(tx, rows, deps)
  await splitInbox(tx, lists)
  // Before the evidence is read: a row that another worker is applying still counts as waiting.
  const completeUntil = await waitingSince(tx, [...rows.map(({ id }) => id), ...(deps.failing ?? [])])
  const due = { groups, saved, completeUntil, now: deps.now() }
  const decided = await decideGroups(tx, due, { ...deps, rules: await holdRules(tx, deps.rules) })
  return { ...payloads, decided }
}

/** @returns also the groups, which are locked */
export async function saveRows(
  tx: Transaction<Tables>,
  rows: readonly PendingRow[],
  { readClaim }: Pick<ApplyDeps, 'readClaim'>,
) {
  const readings = readRows(rows, readClaim)
  const saved = await link(tx, readings.readable)
  return { ...readings, saved, groups: [...new Set(saved.map(({ groupId }) => groupId))] }
}

type InboxRowReading = { kind: 'observation'; observation: Observation; items?: number } | ServiceReading

function read(row: PendingRow, readClaim: AnyServiceReader): InboxRowReading {
  const { source, service, body, headers, receivedAt } = row
  if (source === 'chain' || source === 'person')
    return { kind: 'observation', observation: decodeObservation(body.toString()) }
  return readClaim({
    source,
    service,
    body,
    receivedAt,
    item: itemOf(headers),
    wallet: headers[walletHeader],
  })
}

type ReadRows = {
  readable: readonly { row: PendingRow; observation: Observation }[]
  unreadable: readonly HeldMismatch[]
  /** Rows of several items, of which each stands for the first. */
  lists: readonly { id: bigint; items: number }[]
  withdrawing: readonly WithdrawingWallet[]
}

/** A payload that the profile ignores is neither readable nor unreadable. */
function readRows(rows: readonly PendingRow[], readClaim: AnyServiceReader): ReadRows {
  const readable: { row: PendingRow; observation: Observation }[] = []
  const unreadable: HeldMismatch[] = []
  const withdrawing: WithdrawingWallet[] = []
  const readings = rows.map((row) => ({ row, reading: read(row, readClaim) }))
  for (const { row, reading } of readings) {
    switch (reading.kind) {
      case 'observation':
        readable.push({ row, observation: reading.observation })
        break
      case 'claim':
        readable.push({ row, observation: reading.claim })
        break
      case 'withdrawal':
        readable.push({ row, observation: reading.withdrawal })
        break
      case 'ignored':
        if (reading.withdrawal) withdrawing.push(walletOf(reading.withdrawal, row.service))
        break
      case 'unknown_event':
      case 'unknown_status':
      case 'schema_drift':
        unreadable.push(unreadableMismatch(row, reading))
    }
  }
  const lists = readings.flatMap(({ row: { id, headers }, reading: { items = 1 } }) =>
    items > 1 && !(itemHeader in headers) ? [{ id, items }] : [],
  )
  return { readable, unreadable, lists, withdrawing }
}

function walletOf({ wallet }: WithdrawalEvent, service: ServiceName): WithdrawingWallet {
  return { service, wallet: wallet === null ? null : idAmongServices(service, wallet) }
}

async function link(
  tx: Transaction<Tables>,
  readable: readonly { row: PendingRow; observation: Observation }[],
): Promise<LinkedObservation[]> {
  if (readable.length === 0) return []
  const groupIds = await linkGroups(
    tx,
    readable.map(({ observation }) => linkKeys(observation)),
  )
  const linked = readable.map(({ row, observation }, index) => ({
    inboxId: row.id,
    groupId: groupIds[index] ?? 0n,
    observation,
  }))
  await saveEvidence(tx, linked)
  return linked
}

type GroupDecisionInput = {
  groups: readonly bigint[]
  saved?: readonly LinkedObservation[]
  /** All rows received up to then are applied. Null or absent: up to now. */
  completeUntil?: Date | null
  now: Date
}

/** Requires locked groups. */
export async function decideGroups(
  tx: Transaction<Tables>,
  { groups, saved, completeUntil = null, now }: GroupDecisionInput,
  { rules, readNetworks }: Pick<ApplyDeps, 'rules' | 'readNetworks'>,
): Promise<Omit<ApplyResult, 'rows' | 'reported' | 'withdrawing' | 'taken'>> {
  const begunAt = clock()
  if (groups.length === 0) return nothingDecided(begunAt)
  const loaded = await loadGroups(tx, groups, saved)
  const loadedAt = clock()
  reach('apply.read')
  const decisions = loaded.map((group) => ({
    groupId: group.id,
    ...decide({ ...group, completeUntil }, rules, now),
  }))
  const decidedAt = clock()
  const deposits = await numberDeposits(
    tx,
    decisions.flatMap(({ groupId, deposits: found }) => found.map((deposit) => ({ ...deposit, groupId }))),
  )
  const reconciled = await saveDeposits(tx, deposits)
  const withdrawals = decisions.flatMap(({ groupId, withdrawals: found }) =>
    found.map((withdrawal) => ({ ...withdrawal, groupId })),
  )
  await saveWithdrawals(tx, withdrawals)
  const held = [...(await heldMismatches(tx, deposits, decisions)), ...withdrawalMismatches(withdrawals)]
  const mismatches = await syncGroupMismatches(tx, groups, held)
  const ofDeposits = deposits.flatMap(({ id, journals: formed }) =>
    formed.map((one) => ({ ...one, depositId: one.depositId ?? id })),
  )
  const journals = [...ofDeposits, ...decisions.flatMap(({ withdrawalJournals }) => withdrawalJournals)]
  await bookJournals(tx, journals)
  await saveCreditSafety(tx, deposits, reconciled)
  await saveRechecks(
    tx,
    decisions.map(({ groupId, recheckAt }) => ({ groupId, at: recheckAt })),
  )
  const lags = deposits.flatMap(({ id, evidence, lags: own }) =>
    own.map((lag) => ({ ...lag, service: serviceOfDeposit(evidence), of: { depositId: id } })),
  )
  const named =
    readNetworks === null ? [] : await askChains(tx, { deposits, withdrawals }, { now, readNetworks })
  reach('apply.in_transaction')
  const times = { begunAt, loadedAt, decidedAt, bookedAt: clock() }
  const reported = { lags, mismatches, named, times, trails: trailsOf(deposits, saved ?? [], loaded) }
  return { groups: groups.length, journals: journals.length, ...reported }
}

function nothingDecided(at: number): Omit<ApplyResult, 'rows' | 'reported' | 'withdrawing' | 'taken'> {
  const times = { begunAt: at, loadedAt: at, decidedAt: at, bookedAt: at }
  return { groups: 0, journals: 0, lags: [], mismatches: [], named: [], trails: [], times }
}

function messageLags(
  { id, source, service: sender, storedAt }: PendingRow,
  observation: Observation,
  now: Date,
): MeasuredLag[] {
  const isClaim = observation.kind === 'claim'
  const network = isClaim ? observation.deposit.network : observation.network
  const about = { network, service: isClaim ? sender : null, of: { inboxId: id } }
  const apply: MeasuredLag = { ...about, stage: 'apply', seconds: secondsBetween(storedAt, now) }
  if (source !== 'webhook') return [apply]
  const { occurredAt, receivedAt } = observation as Claim
  return [apply, { ...about, stage: 'delivery', seconds: secondsBetween(occurredAt, receivedAt) }]
}
