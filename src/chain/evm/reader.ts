import { Fault } from '../../core/errors.ts'
import { onFirstNode } from '../failover.ts'
import { requireIdentity } from '../identity.ts'
import { connections, defaultBounds, type ReaderOptions } from '../options.ts'
import type { ChainReader, NetworkSettings } from '../port.ts'
import { identityFaults, requireChain } from './identity.ts'
import { openNode } from './node.ts'
import { scanOn } from './scan.ts'
import { watchOf } from './watch.ts'

/**
 * Reads an EVM chain. A scan stays on one node; where that node fails, the next one does the whole scan.
 * @throws Fault `settings_bad` without a URL or a chain id
 */
export function createEvmReader(settings: NetworkSettings, options: ReaderOptions = {}): ChainReader {
  const { name, chainId } = settings
  if (chainId === null) throw new Fault('settings_bad', { faults: [`network ${name} has no chain id`] })
  const bounds = { ...defaultBounds, ...options.bounds }
  const nodes = connections(settings, options).map(openNode)
  return {
    network: name,
    scan: (request) =>
      onFirstNode(nodes, bounds.restMs, async (node) => {
        await requireChain(node, settings)
        return scanOn({ node, watch: watchOf(settings, request.watched), bounds }, request)
      }),
    checkIdentity: () =>
      requireIdentity(nodes, (node) => identityFaults(node, settings, bounds.requestsAtOnce)),
  }
}
