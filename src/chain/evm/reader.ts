import type { Address } from '../../core/asset.ts'
import { Fault } from '../../core/errors.ts'
import { requireIdentity } from '../identity.ts'
import { connections, defaultBounds, defaultReading, type ReaderOptions } from '../options.ts'
import { createPool, type Pool } from '../pool.ts'
import type { FullChainReader, NetworkSettings } from '../port.ts'
import { createQuorum, nodesWithout } from '../quorum.ts'
import { readBalances } from './balances.ts'
import { readHeader } from './blocks.ts'
import { readFinalHead } from './finality.ts'
import { heightAt } from './height-at.ts'
import { identityFaults, requireChain } from './identity.ts'
import { readMovements } from './movements.ts'
import { type EvmNode, openNode } from './node.ts'
import { readRange } from './read-range.ts'
import { readTransaction } from './read-transaction.ts'
import { scanOn } from './scan.ts'
import { tracingNodes } from './traces.ts'
import { type EvmScan, watchOf } from './watch.ts'

const nobody: ReadonlySet<Address> = new Set()

/**
 * Reads an EVM chain. A scan stays on one node; where that node fails, the next one does the whole scan. With a quorum
 * as many nodes read it, and only what they agree on counts.
 * @throws Fault `settings_bad` without a URL or a chain id
 */
export function createEvmReader(settings: NetworkSettings, options: ReaderOptions = {}): FullChainReader {
  const { name, chainId } = settings
  if (chainId === null) throw new Fault('settings_bad', { faults: [`network ${name} has no chain id`] })
  const bounds = { ...defaultBounds, ...options.bounds }
  const poolOf = (some: readonly EvmNode[]) =>
    createPool({
      nodes: some,
      restMs: bounds.restMs,
      identify: (node) => requireChain(node, settings),
      observe: ({ host, score }) => options.observeNode?.({ network: name, node: host, score }),
    })
  const pool = poolOf(connections(settings, options).map(openNode))
  const scanOf = (node: EvmNode, watched: ReadonlySet<Address>): EvmScan => ({
    node,
    watch: watchOf(settings, watched),
    bounds,
  })
  const { quorum: agreeing } = settings.reading ?? defaultReading
  const quorumOf = (some: Pool<EvmNode>) =>
    createQuorum({
      network: name,
      pool: some,
      quorum: agreeing,
      finalHeight: async (node) => (await readFinalHead(scanOf(node, nobody)))?.height ?? null,
    })
  const quorum = quorumOf(pool)
  const onNode = <Result>(watched: ReadonlySet<Address>, read: (scan: EvmScan) => Promise<Result>) =>
    pool.onFirst((node) => read(scanOf(node, watched)))
  return {
    network: name,
    scan: (request) => quorum.scan(request, (node, asked) => scanOn(scanOf(node, asked.watched), asked)),
    readRange: async (request) => {
      const tracing = request.traced === true ? await tracingNodes(pool) : []
      const traced = tracing.length >= agreeing
      const among = traced ? quorumOf(poolOf(tracing)) : quorum
      return among.readRange({ ...request, traced }, (node, asked) =>
        readRange(scanOf(node, asked.watched), asked),
      )
    },
    readTransaction: (tx, watched) =>
      quorum.readTransaction((node) => readTransaction(scanOf(node, watched), tx)),
    nodesWithout: (tx) => nodesWithout(pool, (node) => readTransaction(scanOf(node, nobody), tx)),
    timeAt: (height) => onNode(nobody, async ({ node }) => (await readHeader(node, height)).at),
    heightAt: (at) => onNode(nobody, (scan) => heightAt(scan, at)),
    readBalances: (request) => readBalances(pool, (node) => scanOf(node, nobody), request),
    readMovements: (request) => onNode(request.addresses, (scan) => readMovements(scan, request)),
    checkIdentity: () =>
      requireIdentity(pool.nodes, (node) => identityFaults(node, settings, bounds.requestsAtOnce)),
  }
}
