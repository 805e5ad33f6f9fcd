import type { NetworkName } from '../core/asset.ts'
import { assert, isFault } from '../core/errors.ts'
import { inTransaction } from '../store/database.ts'
import type { MismatchChange } from '../store/mismatches.ts'
import { clearTroubles, type NetworkTrouble, openTrouble } from '../store/network-mismatches.ts'
import { type BackfillDeps, createBackfill } from './backfill.ts'
import { type NetworkReader, type ScanDeps, type Scanned, scanNetwork } from './scan.ts'

export type NetworkWorkDeps = ScanDeps &
  BackfillDeps & {
    readers: ReadonlyMap<NetworkName, NetworkReader>
    /** Asks for a run of a job; may fail, since the schedule asks again. */
    wake: (job: 'apply' | 'scan' | 'backfill', key?: string) => Promise<void>
    observe: {
      mismatches: (changes: readonly MismatchChange[]) => void
      rewound: (network: NetworkName) => void
    }
  }

/** What is done again and again for each network that is read. */
export type NetworkWork = {
  /** Reads a network on and has what was found applied; one that has halted is told of as a mismatch. */
  scan: (network: string) => Promise<void>
  /** Reads what a network's addresses miss below where it stands, and has what was found applied. */
  backfill: (network: string) => Promise<void>
  /** All of it for all networks, waking nobody. */
  readAll: () => Promise<void>
}

export function createNetworkWork(deps: NetworkWorkDeps): NetworkWork {
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
    async readAll() {
      for (const network of deps.readers.keys()) {
        const reader = await readerOf(network)
        while ((await scanNext(reader))?.more) continue
        while ((await backfillNext(reader))?.more) continue
      }
    },
  }
}

/** Null while another process scans the network. */
function createScan(deps: NetworkWorkDeps): (reader: NetworkReader) => Promise<Scanned | null> {
  return async (reader) => {
    const { network } = reader
    const scanned = await scanNetwork(deps, reader).catch((error: unknown) =>
      tellTrouble(deps, network, error),
    )
    if (scanned?.rewound) deps.observe.rewound(network)
    if (scanned !== null) deps.observe.mismatches(await clearTroubles(deps.db, network, ['history_lost']))
    return scanned
  }
}

/** Before the first time, makes sure that the nodes are of the chain they are taken for. */
function identifyOnce({ readers }: NetworkWorkDeps): (network: string) => Promise<NetworkReader> {
  const identified = new Set<NetworkName>()
  return async (network) => {
    const reader = readers.get(network as NetworkName)
    assert(reader !== undefined, `a network is read only where a reader is: ${network}`)
    if (!identified.has(reader.network)) await reader.checkIdentity()
    identified.add(reader.network)
    return reader
  }
}

/** A person has to decide, so it is told of also where nobody reads logs. */
async function tellTrouble(deps: NetworkWorkDeps, network: NetworkName, error: unknown): Promise<never> {
  const trouble = troubleOf(network, error)
  if (trouble !== null)
    deps.observe.mismatches(await inTransaction(deps.db, (tx) => openTrouble(tx, trouble)))
  throw error
}

function troubleOf(network: NetworkName, error: unknown): NetworkTrouble | null {
  if (!isFault(error, 'history_lost')) return null
  const { problem, mend } = error.details
  return { network, kind: 'history_lost', detail: { problem, mend } }
}
