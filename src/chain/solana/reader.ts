import { requireIdentity } from '../identity.ts'
import { connections, defaultBounds, type ReaderOptions } from '../options.ts'
import { createPool } from '../pool.ts'
import type { ChainReader, NetworkSettings } from '../port.ts'
import { identityFaults, requireCluster } from './identity.ts'
import { emptyMemory } from './memory.ts'
import { openNode } from './node.ts'
import { scanOn } from './scan.ts'
import { watchOf } from './watch.ts'

/**
 * Reads Solana, final transactions only. A scan stays on one node; where that fails, the next does the whole scan.
 * @throws Fault `settings_bad` without a URL
 */
export function createSolanaReader(settings: NetworkSettings, options: ReaderOptions = {}): ChainReader {
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
  return {
    network: settings.name,
    scan: (request) =>
      pool.onFirst((node) =>
        scanOn(
          { node, watch: watchOf(settings, request.watched), bounds, memory: node.memory, way },
          request,
        ),
      ),
    checkIdentity: () =>
      requireIdentity(nodes, (node) =>
        identityFaults({ node, cluster, atOnce: bounds.requestsAtOnce }, settings),
      ),
  }
}
