import { assert, Fault } from '../core/errors.ts'
import type { ServiceName } from '../core/evidence.ts'
import { reach } from '../failpoint.ts'

/** The body is byte for byte. */
export type ReceivedWebhook = {
  source: 'webhook'
  service: ServiceName
  /** The sender's event id, unique among services; with `source` it identifies a resend. */
  sourceKey: string
  body: Buffer
  headers: Record<string, string>
  receivedAt: Date
}

/** Of identical copies that arrived before the commit. */
export type CoalescedWebhook = ReceivedWebhook & { copiesAt: readonly Date[] }

/** `conflicting`: the key exists with another body; this one is stored in addition. */
export type InboxOutcome = 'stored' | 'duplicate' | 'conflicting'

/** Returns the outcomes in order. Keys are unique. */
export type StoreRows = (rows: readonly CoalescedWebhook[]) => Promise<readonly InboxOutcome[]>

export const writerLimits = {
  flushRowsMax: 500,
  /** A single row may exceed it. */
  flushBytesMax: 8 * 1024 * 1024,
  /** Rows beyond the commit in flight; more are refused. */
  waitingMax: 10_000,
  waitingBytesMax: 64 * 1024 * 1024,
  /** After this time, the rows of a commit are rejected, and new ones too until it ends. */
  flushTimeoutMs: 5000,
}

type InboxWriterSettings = typeof writerLimits & { store: StoreRows }

export type InboxWriter = {
  /**
   * Resolves once the row is committed, or at once if too many rows wait.
   * @throws the store's own error; Fault `remote_failed` if the commit took too long
   */
  write: (row: ReceivedWebhook) => Promise<InboxOutcome | 'overloaded'>
}

type WriteCallbacks = { resolve: (outcome: InboxOutcome) => void; reject: (error: unknown) => void }
type PendingWrite = WriteCallbacks & { row: ReceivedWebhook }
type WriteGroup = { first: PendingWrite; copies: PendingWrite[] }

/**
 * One commit is in flight, and all rows that arrive meanwhile share the next. No timer delays a lone row, and commits
 * grow with the load.
 */
export function createInboxWriter(settings: InboxWriterSettings): InboxWriter {
  const { store, waitingMax, waitingBytesMax, flushTimeoutMs } = settings
  let waiting: PendingWrite[] = []
  let waitingBytes = 0
  let flushing = false
  let late = false

  async function flushAll(): Promise<void> {
    flushing = true
    while (waiting.length > 0) {
      const { groups, rest } = takeGroups(waiting, settings)
      waiting = rest
      waitingBytes = bodyBytes(rest)
      await flush(groups)
    }
    flushing = false
  }

  async function flush(groups: readonly WriteGroup[]): Promise<void> {
    const timer = setTimeout(giveUp, flushTimeoutMs, groups)
    try {
      await commit(store, groups)
    } catch (error) {
      refuse(groups, error)
    }
    clearTimeout(timer)
    late = false
  }

  function giveUp(groups: readonly WriteGroup[]): void {
    late = true
    refuse(groups, tooLate(flushTimeoutMs))
    for (const { reject } of waiting.splice(0)) reject(tooLate(flushTimeoutMs))
    waitingBytes = 0
  }

  return {
    write(row) {
      if (late) return Promise.reject(tooLate(flushTimeoutMs))
      if (waiting.length >= waitingMax || waitingBytes > waitingBytesMax) return Promise.resolve('overloaded')
      waitingBytes += row.body.length
      return new Promise((resolve, reject) => {
        waiting.push({ row, resolve, reject })
        if (!flushing) void flushAll()
      })
    },
  }
}

/**
 * Each key once: an identical body shares its row, a different one waits for the next commit, so that the store sees it
 * second.
 */
function takeGroups(
  waiting: readonly PendingWrite[],
  { flushRowsMax, flushBytesMax }: InboxWriterSettings,
): { groups: WriteGroup[]; rest: PendingWrite[] } {
  const groups = new Map<string, WriteGroup>()
  const rest: PendingWrite[] = []
  let bytes = 0
  for (const entry of waiting) {
    const group = groups.get(entry.row.sourceKey)
    if (group === undefined && groups.size < flushRowsMax && bytes < flushBytesMax) {
      groups.set(entry.row.sourceKey, { first: entry, copies: [] })
      bytes += entry.row.body.length
    } else if (group?.first.row.body.equals(entry.row.body)) group.copies.push(entry)
    else rest.push(entry)
  }
  return { groups: [...groups.values()], rest }
}

function arrivalOf({ first, copies }: WriteGroup): CoalescedWebhook {
  return { ...first.row, copiesAt: copies.map(({ row }) => row.receivedAt) }
}

function bodyBytes(waiting: readonly PendingWrite[]): number {
  return waiting.reduce((bytes, { row }) => bytes + row.body.length, 0)
}

function answer({ first, copies }: WriteGroup, outcome: InboxOutcome): void {
  first.resolve(outcome)
  for (const copy of copies) copy.resolve('duplicate')
}

function refuse(groups: readonly WriteGroup[], error: unknown): void {
  for (const { first, copies } of groups) for (const { reject } of [first, ...copies]) reject(error)
}

function tooLate(timeoutMs: number): Fault<'remote_failed'> {
  return new Fault('remote_failed', {
    what: 'storing a webhook',
    problem: `no commit within ${timeoutMs} ms`,
  })
}

async function commit(store: StoreRows, groups: readonly WriteGroup[]): Promise<void> {
  const outcomes = await store(groups.map(arrivalOf))
  assert(outcomes.length === groups.length, 'the store answers once per row')
  reach('intake.committed')
  for (const [place, group] of groups.entries()) answer(group, outcomes[place] ?? 'duplicate')
}
