import { setTimeout as sleep } from 'node:timers/promises'
import { type ServiceName, serviceOf } from '../core/evidence.ts'
import { unreadableKinds } from '../core/mismatch.ts'
import { reach } from '../failpoint.ts'
import { workerStream } from '../health.ts'
import type { DepositClient } from '../provider/deposit-client.ts'
import { addUpCounts } from '../store/books/deposit-counts.ts'
import { dueNetworks } from '../store/chain/named-transactions.ts'
import { pruneAttempts } from '../store/event-deliveries.ts'
import { numberEvents } from '../store/events.ts'
import { pendingIds, readPending } from '../store/inbox.ts'
import { keepBeat } from '../store/server-facts.ts'
import { readClock } from '../store/streams.ts'
import { type ApplyDeps, type ApplyResult, applyDue, applyPending, batchMax } from './books/apply.ts'
import { createLedgerWork, type LedgerWork, type LedgerWorkDeps } from './books/ledger-work.ts'
import { proposeMatches } from './books/propose-matches.ts'
import { replayKept } from './books/replay.ts'
import { type ChainWork, createNetworkWork, type NetworkWorkDeps } from './chain/network-work.ts'
import { type Cadence, keepPace, type PollDeps, pollDeposits, untilPollDue } from './poll/poll.ts'
import { nothingRead, type PollReport, readAlone } from './poll/read-records.ts'

export type WorkDeps = ApplyDeps &
  Omit<PollDeps, 'client'> &
  NetworkWorkDeps &
  Omit<LedgerWorkDeps, 'apply'> &
  Cadence & {
    clients: ReadonlyMap<ServiceName, DepositClient>
    /** Sends events to their endpoints, in the background. */
    deliver: () => void
    /** May fail: the sweep requests it again. */
    wake: (job: JobName, key?: string) => Promise<void>
    observe: {
      applied: (applied: ApplyResult) => void
      polled: (service: ServiceName, reading: PollReport) => void
    }
  }

export type JobName = Exclude<keyof DaemonWork, 'replay'>

/** A wake-up counts as lost after this time. */
const overdueSeconds = 5

/** Per batch of webhooks: up to this many are read by id, more through the list; wallets likewise. */
const readsMax = 20

/** A batch has a fixed cost. After one of fewer rows, the next waits as long as it took, so that it gets more of them. */
const small = { rowsMax: 200, restMaxMs: 50 }

/** Each is safe to run twice and concurrently. */
export type DaemonWork = LedgerWork &
  ChainWork & {
    apply: () => Promise<void>
    poll: (service: string) => Promise<void>
    /** By the id among services. */
    read: (id: string) => Promise<void>
    /** Finds lost wake-ups: overdue rows, groups past their deadline, and decisions of people. */
    sweep: () => Promise<void>
    beat: () => Promise<void>
    /** Applies stored payloads that a changed profile can read. */
    replay: () => Promise<void>
  }

export function createWork(options: WorkDeps): DaemonWork {
  const deps: DaemonWorkDeps = { ...options, failing: new Set() }
  const proposePage = createProposer(deps)
  const apply = () => applyAll(deps)
  const ledger = createLedgerWork({ ...deps, apply })
  return {
    ...createNetworkWork(deps),
    ...ledger,
    apply,
    async poll(name) {
      const client = deps.clients.get(name as ServiceName)
      if (client === undefined || !(await untilPollDue(deps.db, client.service, deps))) return
      await pollNow({ ...deps, client, keepPace: () => keepPace(deps) })
    },
    async read(id) {
      const client = deps.clients.get(serviceOf(id))
      if (client === undefined) return
      const reading = nothingRead()
      await readAlone(await byDatabaseClock({ ...deps, client }), [id], reading)
      deps.observe.polled(client.service, reading)
      if (reading.stored > 0) await deps.wake('apply')
    },
    async sweep() {
      reach('sweep.began')
      await decideDue(deps)
      await numberAndDeliver(deps)
      await pruneAttempts(deps.db)
      await addUpCounts(deps.db)
      if ((await readPending(deps.db)).oldest > overdueSeconds) await applyAll(deps)
      const due = await dueNetworks(deps.db, [...deps.readers.keys()], deps.now())
      for (const network of due) await deps.wake('verify', network)
      if (await proposePage()) await deps.wake('apply')
    },
    beat: () => keepBeat(deps.db, workerStream),
    replay: () => replayAll(deps),
  }
}

async function wakeReaders(deps: DaemonWorkDeps, applied: ApplyResult): Promise<void> {
  const { wake, clients } = deps
  for (const network of new Set(applied.named)) await wake('verify', network)
  await wakeWallets(deps, applied)
  for (const [service, ids] of Map.groupBy(new Set(applied.reported), serviceOf)) {
    const readsById = ids.length <= readsMax && clients.get(service)?.list.one !== undefined
    for (const id of readsById ? ids : []) await wake('read', id)
    if (!readsById) await wake('poll', service)
  }
}

async function wakeWallets({ wake }: DaemonWorkDeps, { withdrawing }: ApplyResult): Promise<void> {
  for (const [service, named] of Map.groupBy(withdrawing, (one) => one.service)) {
    const ids = new Set(named.map(({ wallet }) => wallet))
    if (ids.has(null) || ids.size > readsMax) await wake('wallets', service)
    else for (const id of ids) await wake('wallet', id ?? '')
  }
}

async function replayAll(deps: ApplyDeps): Promise<void> {
  await replayKept(deps, { kinds: unreadableKinds, since: null }, () => undefined)
}

/** Reading times order the records for all processes. A fast clock would skip records until real time catches up. */
async function byDatabaseClock<Deps extends PollDeps>(deps: Deps): Promise<Deps> {
  return { ...deps, now: await readClock(deps.db) }
}

async function pollNow(deps: WorkDeps & PollDeps): Promise<void> {
  const reading = (await pollDeposits(await byDatabaseClock(deps))) ?? nothingRead()
  deps.observe.polled(deps.client.service, reading)
}

/** Continues at each call. True if the policy approved a match that must be applied. */
function createProposer(deps: WorkDeps): () => Promise<boolean> {
  let after = 0n
  return async () => {
    const { next, agreed, mismatches } = await proposeMatches(deps, after)
    after = next ?? 0n
    deps.observe.mismatches(mismatches)
    return agreed > 0
  }
}

type DaemonWorkDeps = WorkDeps & { failing: Set<bigint> }

/** @throws the first failed wake-up, once all is applied */
async function applyAll(deps: DaemonWorkDeps): Promise<void> {
  const faults: unknown[] = []
  for (let isFirst = true; ; isFirst = false) {
    const begunAt = performance.now()
    const applied = await applyPending(deps).catch((fault: unknown) => applyEach(deps, fault))
    if (applied.rows > 0) reach('apply.committed')
    deps.observe.applied(applied)
    // First also events of others, such as what people did.
    if (applied.rows > 0 || isFirst) await numberAndDeliver(deps)
    if (applied.rows === 0) break
    // After each batch: while webhooks keep arriving, there is always another one.
    await wakeReaders(deps, applied).catch((fault: unknown) => faults.push(fault))
    if (applied.rows < small.rowsMax) await sleep(Math.min(performance.now() - begunAt, small.restMaxMs))
  }
  if (faults.length > 0) throw faults[0]
}

async function numberAndDeliver({ db, observe, deliver }: DaemonWorkDeps): Promise<void> {
  const { count, mismatches } = await numberEvents(db)
  observe.mismatches(mismatches)
  if (count === 0) return
  reach('events.numbered')
  deliver()
}

/**
 * One row must not block the others: if a batch fails, each row gets its own transaction. A row that fails again stays
 * pending, and fails the job. Deadlines do not wait for it while this process remembers it.
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
