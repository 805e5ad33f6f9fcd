import { Fault } from '../../core/errors.ts'
import { onFirstNode } from '../failover.ts'
import { requireIdentity } from '../identity.ts'
import { connections, defaultBounds, type ReaderOptions } from '../options.ts'
import type { ChainReader, NetworkSettings, OnDemandReader } from '../port.ts'
import { heightAt } from './height-at.ts'
import { identityFaults, requireChain } from './identity.ts'
import { type EvmNode, openNode } from './node.ts'
import { readRange } from './read-range.ts'
import { readTransaction } from './read-transaction.ts'
import { scanOn } from './scan.ts'
import { watchOf } from './watch.ts'

type EvmReader = ChainReader & Pick<OnDemandReader, 'readRange' | 'heightAt' | 'readTransaction'>

/**
 * Reads an EVM chain. A scan stays on one node; where that node fails, the next one does the whole scan.
 * @throws Fault `settings_bad` without a URL or a chain id
 */
export function createEvmReader(settings: NetworkSettings, options: ReaderOptions = {}): EvmReader {
  const { name, chainId } = settings
  if (chainId === null) throw new Fault('settings_bad', { faults: [`network ${name} has no chain id`] })
  const bounds = { ...defaultBounds, ...options.bounds }
  const nodes = connections(settings, options).map(openNode)
  const onNode = <Result>(read: (node: EvmNode) => Promise<Result>) =>
    onFirstNode(nodes, bounds.restMs, async (node) => {
      await requireChain(node, settings)
      return read(node)
    })
  return {
    network: name,
    scan: (request) =>
      onNode((node) => scanOn({ node, watch: watchOf(settings, request.watched), bounds }, request)),
    readRange: (request) =>
      onNode((node) => readRange({ node, watch: watchOf(settings, request.watched), bounds }, request)),
    readTransaction: (tx, watched) =>
      onNode((node) => readTransaction({ node, watch: watchOf(settings, watched), bounds }, tx)),
    heightAt: (at) => onNode((node) => heightAt({ node, watch: watchOf(settings, new Set()) }, at)),
    checkIdentity: () =>
      requireIdentity(nodes, (node) => identityFaults(node, settings, bounds.requestsAtOnce)),
  }
}
