import type { NetworkName } from '../../core/asset.ts'
import { assert, Fault, isFault } from '../../core/errors.ts'
import { inTransaction } from '../../store/database.ts'
import {
  clearTroubles,
  type MismatchChange,
  type NetworkTrouble,
  openTrouble,
} from '../../store/mismatches/mismatches.ts'
import { type BackfillDeps, createBackfill } from './backfill.ts'
import type { ProvenNetwork } from './proof-run.ts'
import { proveBalances } from './prove-balances.ts'
import { type NetworkReader, type ScanDeps, type ScanReport, scanNetwork } from './scan.ts'
import { type SearchReader, searchLegs } from './search-legs.ts'
import { type TransactionReader, type VerifyDeps, verifyTransactions } from './verify-transactions.ts'

type ChainWorkReader = NetworkReader & TransactionReader & SearchReader

export type NetworkWorkDeps = ScanDeps &
  BackfillDeps & {
    readers: ReadonlyMap<NetworkName, ChainWorkReader>
    proven: readonly ProvenNetwork[]
    /** Time in milliseconds. */
    mayVerify: (network: string, nowMs: number) => boolean
    /** May fail: the schedule requests it again. */
    wake: (job: 'apply' | 'scan' | 'backfill' | 'verify', key?: string) => Promise<void>
    observe: {
      mismatches: (changes: readonly MismatchChange[]) => void
      rewound: (network: NetworkName) => void
    }
  }

export type ChainWork = {
  /** A halted network opens a mismatch. */
  scan: (network: string) => Promise<void>
  backfill: (network: string) => Promise<void>
  /** Reads transactions that the service names, and searches for overdue transfers. */
  verify: (network: string) => Promise<void>
  prove: (network: string) => Promise<void>
}

export function createNetworkWork(deps: NetworkWorkDeps): ChainWork {
  const scanNext = createScan(deps)
  const backfillNext = createBackfill(deps)
  const readerOf = identifyOnce(deps)
  const wakeIf = async (condition: boolean, ...job: Parameters<NetworkWorkDeps['wake']>) => {
    if (condition) await deps.wake(...job)
  }
  return {
    async scan(network) {
      const scanned = await scanNext(await readerOf(network))
      if (scanned === null) return
      await wakeIf(scanned.stored > 0, 'apply')
      await wakeIf(scanned.enrolled > 0, 'backfill', network)
      await wakeIf(scanned.more, 'scan', network)
    },
    async backfill(network) {
      const filled = await backfillNext(await readerOf(network))
      if (filled === null) return
      await wakeIf(filled.stored > 0, 'apply')
      await wakeIf(filled.more, 'backfill', network)
    },
    async verify(network) {
      const reader = await readerOf(network)
      const mayRead = () => deps.mayVerify(network, deps.now().getTime())
      const stored = await verify({ ...deps, mayRead }, reader)
      await wakeIf(stored > 0, 'apply')
    },
    prove: (network) => proveNetwork(deps, network),
  }
}

/** A proof writes rarely, and releases its lease at the end. */
const proofLeaseMs = 60_000

async function proveNetwork(deps: NetworkWorkDeps, name: string): Promise<void> {
  const network = deps.proven.find(({ settings }) => settings.name === name)
  assert(network !== undefined, `no reader for ${name}, so its balances cannot be proved`)
  const proved = await proveBalances({ ...deps, leaseMs: proofLeaseMs }, network)
  if (typeof proved === 'string') return
  deps.observe.mismatches(proved.changes)
  if (proved.stored > 0) await deps.wake('apply')
  const [problem] = proved.problems
  if (problem !== undefined)
    throw new Fault('remote_failed', { what: `proving balances on ${name}`, problem })
}

/** Both run even if one fails. A transaction that reading by hash finds needs no search. */
async function verify(deps: VerifyDeps, reader: ChainWorkReader): Promise<number> {
  const [named, searched] = await Promise.allSettled([
    verifyTransactions(deps, reader),
    searchLegs(deps, reader),
  ])
  if (named.status === 'rejected') throw named.reason
  if (searched.status === 'rejected') throw searched.reason
  return named.value + searched.value
}

/** Null while another process scans the network. */
function createScan(deps: NetworkWorkDeps): (reader: NetworkReader) => Promise<ScanReport | null> {
  return async (reader) => {
    const { network } = reader
    const scanned = await scanNetwork(deps, reader).catch((error: unknown) =>
      reportTrouble(deps, network, error),
    )
    if (scanned?.rewound) deps.observe.rewound(network)
    if (scanned !== null) deps.observe.mismatches(await settleTroubles(deps, scanned))
    return scanned
  }
}

/** Outvoted nodes stay reported until a block becomes final without dissent. */
async function settleTroubles(
  { db }: NetworkWorkDeps,
  { network, movedOn, dissent }: ScanReport,
): Promise<MismatchChange[]> {
  if (dissent.length === 0) {
    return clearTroubles(db, network, movedOn ? ['history_lost', 'rpc_disagreement'] : ['history_lost'])
  }
  const detail = { problem: dissent.join('; '), booked: 'the result on which the other nodes agree' }
  const cleared = await clearTroubles(db, network, ['history_lost'])
  const opened = await inTransaction(db, (tx) =>
    openTrouble(tx, { network, kind: 'rpc_disagreement', detail }),
  )
  return [...cleared, ...opened]
}

function identifyOnce({ readers }: NetworkWorkDeps): (network: string) => Promise<ChainWorkReader> {
  const identified = new Set<NetworkName>()
  return async (network) => {
    const reader = readers.get(network as NetworkName)
    assert(reader !== undefined, `no reader for ${network}`)
    if (!identified.has(reader.network)) await reader.checkIdentity()
    identified.add(reader.network)
    return reader
  }
}

/** A person must decide, and logs may go unread. */
async function reportTrouble(deps: NetworkWorkDeps, network: NetworkName, error: unknown): Promise<never> {
  const trouble = troubleOf(network, error)
  if (trouble !== null)
    deps.observe.mismatches(await inTransaction(deps.db, (tx) => openTrouble(tx, trouble)))
  throw error
}

function troubleOf(network: NetworkName, error: unknown): NetworkTrouble | null {
  if (isFault(error, 'rpc_disagreement')) {
    const detail = { problem: error.details.problem, booked: 'nothing' }
    return { network, kind: 'rpc_disagreement', detail }
  }
  if (!isFault(error, 'history_lost')) return null
  const { problem, fix } = error.details
  return { network, kind: 'history_lost', detail: { problem, fix } }
}
