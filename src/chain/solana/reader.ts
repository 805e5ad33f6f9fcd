import type { Address } from '../../core/asset.ts'
import { requireIdentity } from '../identity.ts'
import { connections, defaultBounds, type ReaderOptions } from '../options.ts'
import { createPool } from '../pool.ts'
import type { ChainReader, NetworkSettings, OnDemandReader } from '../port.ts'
import { heightAt } from './height-at.ts'
import { identityFaults, requireCluster } from './identity.ts'
import { emptyMemory } from './memory.ts'
import { openNode } from './node.ts'
import { readRange } from './read-range.ts'
import { scanOn } from './scan.ts'
import { type SolanaScan, watchOf } from './watch.ts'

type SolanaReader = ChainReader & Pick<OnDemandReader, 'readRange' | 'heightAt' | 'readMovements'>

const nobody: ReadonlySet<Address> = new Set()

/**
 * Reads Solana, final transactions only. A scan stays on one node; where that fails, the next does the whole scan.
 * @throws Fault `settings_bad` without a URL
 */
export function createSolanaReader(settings: NetworkSettings, options: ReaderOptions = {}): SolanaReader {
  const bounds = { ...defaultBounds, ...options.bounds }
  const way = options.solanaWay ?? null
  const nodes = connections(settings, options).map((connection) => ({
    ...openNode(connection),
    memory: emptyMemory(),
  }))
  const cluster = { genesis: settings.genesisHash ?? null }
  const pool = createPool({
    nodes,
    restMs: bounds.restMs,
    identify: (node) => requireCluster(node, settings, cluster),
  })
  const onNode = <Result>(watched: ReadonlySet<Address>, read: (scan: SolanaScan) => Promise<Result>) =>
    pool.onFirst((node) =>
      read({ node, watch: watchOf(settings, watched), bounds, memory: node.memory, way }),
    )
  return {
    network: settings.name,
    scan: (request) => onNode(request.watched, (scan) => scanOn(scan, request)),
    readRange: (request) => onNode(request.watched, (scan) => readRange(scan, request)),
    heightAt: (at) => onNode(nobody, (scan) => heightAt(scan, at)),
    // A transaction tells what it did to all balances, so that scans show every movement.
    readMovements: () => Promise.resolve([]),
    checkIdentity: () =>
      requireIdentity(nodes, (node) =>
        identityFaults({ node, cluster, atOnce: bounds.requestsAtOnce }, settings),
      ),
  }
}
