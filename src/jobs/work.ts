import { Fault } from '../core/errors.ts'
import { reach } from '../failpoint.ts'
import { dueNetworks } from '../store/chain/named-transactions.ts'
import { oldestPending, pendingIds } from '../store/inbox.ts'
import { takeDecisions } from '../store/mismatches/cases.ts'
import type { MismatchChange } from '../store/mismatches/mismatches.ts'
import { readClock } from '../store/streams.ts'
import type { OwnerAudit } from './audit-owners.ts'
import { type ApplyDeps, type ApplyResult, applyDue, applyPending, batchMax } from './books/apply.ts'
import { createLedgerWork, type LedgerWork } from './books/ledger-work.ts'
import { proposeMatches } from './books/propose-matches.ts'
import { type ChainWork, createNetworkWork, type NetworkWorkDeps } from './chain/network-work.ts'
import type { NoProof } from './chain/proof-run.ts'
import type { BalanceProofResult } from './chain/prove-balances.ts'
import { keepPace } from './poll/keep-pace.ts'
import { type PollDeps, pollDeposits } from './poll/poll.ts'
import { type Cadence, isPollDue } from './poll/poll-cadence.ts'
import { nothingRead, type PollReport, readAlone } from './poll/read-records.ts'

export type WorkDeps = ApplyDeps &
  PollDeps &
  NetworkWorkDeps & {
    cadence: Cadence
    audit: () => Promise<OwnerAudit>
    prove: (network: string) => Promise<BalanceProofResult | NoProof>
    /** Asks for a run of a job; may fail, since the sweep asks again. */
    wake: (job: JobName, key?: string) => Promise<void>
    observe: {
      applied: (applied: ApplyResult) => void
      polled: (reading: PollReport) => void
      mismatches: (changes: readonly MismatchChange[]) => void
    }
  }

export type JobName =
  | 'apply'
  | 'scan'
  | 'backfill'
  | 'verify'
  | 'poll'
  | 'read'
  | 'sweep'
  | 'audit'
  | 'prove'
  | 'seal'
  | 'beat'

/** How long a stored row may wait before its wake-up counts as lost. */
const overdueSeconds = 5

/** Of so many deposits that a batch of webhooks told of, each is read alone; of more, the list is read. */
const readsMax = 20

/** Everything the daemon does again and again. Each job is safe to run twice and beside itself. */
export type DaemonWork = LedgerWork &
  Pick<ChainWork, 'scan' | 'backfill' | 'verify'> & {
    apply: () => Promise<void>
    /** Reads the service's records, where that is due. */
    poll: () => Promise<void>
    /** Reads one record, by the service's id, where the service can tell it alone. */
    read: (id: string) => Promise<void>
    /** Finds what no wake-up reached: rows that wait too long, groups whose time has come, and what people decided. */
    sweep: () => Promise<void>
    /** Holds what a network's deposit addresses have against what is known to have come and gone. */
    prove: (network: string) => Promise<void>
    /** Everything that deposits need done now, without the queue: for tests, and for one-off runs. */
    all: () => Promise<void>
  }

export function createWork(given: WorkDeps): DaemonWork {
  const deps: DaemonWorkDeps = { ...given, failing: new Set() }
  const networks = createNetworkWork(deps)
  const wakeIf = async (condition: boolean | undefined, job: JobName, key?: string) => {
    if (condition) await deps.wake(job, key)
  }
  const proposePage = createProposer(deps)
  return {
    async apply() {
      const { told, named } = await applyAll(deps)
      for (const network of named) await deps.wake('verify', network)
      const isAlone = told.size <= readsMax && deps.client.list.one !== undefined
      for (const id of isAlone ? told : []) await deps.wake('read', id)
      await wakeIf(told.size > 0 && !isAlone, 'poll')
    },
    scan: networks.scan,
    backfill: networks.backfill,
    verify: networks.verify,
    async poll() {
      if (await isPollDue(deps.db, deps.cadence)) await pollNow({ ...deps, keepPace: () => keepPace(deps) })
    },
    async read(id) {
      const reading = nothingRead()
      await readAlone(await byDatabaseClock(deps), [id], reading)
      deps.observe.polled(reading)
      await wakeIf(reading.stored > 0, 'apply')
    },
    async sweep() {
      reach('sweep.began')
      await decideDue(deps)
      deps.observe.mismatches(await takeDecisions(deps.db))
      if ((await oldestPending(deps.db)) > overdueSeconds) await applyAll(deps)
      const due = await dueNetworks(deps.db, deps.now())
      for (const network of due) await wakeIf(deps.readers.has(network), 'verify', network)
      await wakeIf(await proposePage(), 'apply')
    },
    prove: createProve(deps),
    ...createLedgerWork(deps),
    async all() {
      await networks.readAll()
      await pollNow(deps)
      await applyAll(deps)
      if (await networks.verifyAll()) await applyAll(deps)
      await decideDue(deps)
      if (await proposePage()) await applyAll(deps)
    },
  }
}

/**
 * What was read later counts, and the next reading begins where the last one was, whoever read: by a clock that is ahead,
 * what comes after would be passed over until it is so late.
 */
async function byDatabaseClock(deps: WorkDeps): Promise<WorkDeps> {
  return { ...deps, now: await readClock(deps.db) }
}

async function pollNow(deps: WorkDeps): Promise<void> {
  const reading = (await pollDeposits(await byDatabaseClock(deps))) ?? nothingRead()
  deps.observe.polled(reading)
}

/** Each call goes on where the one before ended. It tells whether the policy agreed to something, which is to be applied. */
function createProposer(deps: WorkDeps): () => Promise<boolean> {
  let after = 0n
  return async () => {
    const { next, agreed, mismatches } = await proposeMatches(deps, after)
    after = next ?? 0n
    deps.observe.mismatches(mismatches)
    return agreed > 0
  }
}

function createProve(deps: WorkDeps): DaemonWork['prove'] {
  return async (network) => {
    const proved = await deps.prove(network)
    if (typeof proved === 'string') return
    deps.observe.mismatches(proved.changes)
    if (proved.stored > 0) await deps.wake('apply')
    const [problem] = proved.problems
    if (problem !== undefined) throw new Fault('remote_failed', { what: `balances on ${network}`, problem })
  }
}

type DaemonWorkDeps = WorkDeps & { failing: Set<bigint> }

type ApplyFollowUps = Record<'told' | 'named', ReadonlySet<string>>

/** @returns the service's ids of the deposits that webhooks told of, and networks with transactions to be verified */
async function applyAll(deps: DaemonWorkDeps): Promise<ApplyFollowUps> {
  const told = new Set<string>()
  const named = new Set<string>()
  for (;;) {
    const applied = await applyPending(deps).catch((fault: unknown) => applyEach(deps, fault))
    if (applied.rows > 0) reach('apply.committed')
    deps.observe.applied(applied)
    for (const id of applied.told) told.add(id)
    for (const network of applied.named) named.add(network)
    if (applied.rows === 0) return { told, named }
  }
}

/**
 * A row that cannot be applied must not hold up the others: where a batch fails, each of its rows gets its own
 * transaction. What fails again stays pending, grows old on the metrics, and fails the job; deadlines pass without it,
 * as long as this process knows of it.
 */
async function applyEach(deps: DaemonWorkDeps, fault: unknown): Promise<never> {
  for (const id of await pendingIds(deps.db, batchMax.rowsMax)) {
    const applied = await applyPending(deps, { id }).catch(() => null)
    if (applied === null) deps.failing.add(id)
    else {
      deps.failing.delete(id)
      deps.observe.applied(applied)
    }
  }
  throw fault
}

async function decideDue(deps: DaemonWorkDeps): Promise<void> {
  for (;;) {
    const applied = await applyDue(deps)
    deps.observe.applied(applied)
    if (applied.groups === 0) return
  }
}
