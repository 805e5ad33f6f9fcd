import { onFirstNode } from '../failover.ts'
import { requireIdentity } from '../identity.ts'
import { connections, defaultBounds, type ReaderOptions } from '../options.ts'
import type { ChainReader, NetworkSettings } from '../port.ts'
import { identityFaults } from './identity.ts'
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
  const nodes = connections(settings, options).map((connection) => ({
    ...openNode(connection),
    memory: emptyMemory(),
  }))
  return {
    network: settings.name,
    scan: (request) =>
      onFirstNode(nodes, bounds.restMs, (node) =>
        scanOn({ node, watch: watchOf(settings, request.watched), bounds, memory: node.memory }, request),
      ),
    checkIdentity: () =>
      requireIdentity(nodes, (node) => identityFaults(node, settings, bounds.requestsAtOnce)),
  }
}
