import type { Address } from '../../core/asset.ts'
import { requireIdentity } from '../identity.ts'
import { connections, defaultBounds, defaultReading, type ReaderOptions } from '../options.ts'
import { createPool } from '../pool.ts'
import type { FullChainReader, NetworkSettings } from '../port.ts'
import { createQuorum, nodesWithout } from '../quorum.ts'
import { commonWay } from './choose-way.ts'
import { readFinalMark } from './final-mark.ts'
import { blockFrom, heightAt } from './height-at.ts'
import { identityFaults, requireCluster } from './identity.ts'
import { emptyMemory } from './memory.ts'
import { openNode } from './node.ts'
import { readBalanceHistory } from './read-balance-history.ts'
import { readBalances } from './read-balances.ts'
import { readRange } from './read-range.ts'
import { ownersOf } from './read-stretch.ts'
import { readTransaction } from './read-transaction.ts'
import { scanOn } from './scan.ts'
import { type SolanaScan, watchOf } from './watch.ts'

const nobody: ReadonlySet<Address> = new Set()

/**
 * Reads Solana, final transactions only. A scan stays on one node; where that fails, the next does the whole scan. With
 * a quorum as many nodes read it, and only what they agree on counts.
 * @throws Fault `settings_bad` without a URL
 */
export function createSolanaReader(settings: NetworkSettings, options: ReaderOptions = {}): FullChainReader {
  const parts = openParts(settings, options)
  const { nodes, pool, cluster, bounds, scanOf } = parts
  const wanted = (settings.reading ?? defaultReading).quorum
  const quorum = createQuorum({
    network: settings.name,
    pool,
    quorum: wanted,
    finalHeight: async (node) => (await readFinalMark({ node })).height,
  })
  const comparable = (scan: SolanaScan): SolanaScan =>
    wanted === 1 ? scan : { ...scan, way: scan.way ?? commonWay(ownersOf(scan.watch)) }
  const onNode = <Result>(watched: ReadonlySet<Address>, read: (scan: SolanaScan) => Promise<Result>) =>
    pool.onFirst((node) => read(scanOf(node, watched)))
  return {
    network: settings.name,
    scan: (request) =>
      quorum.scan(request, (node, asked) => scanOn(comparable(scanOf(node, asked.watched)), asked)),
    readRange: (request) =>
      quorum.readRange(request, (node, asked) => {
        const scan = scanOf(node, asked.watched)
        return readRange(asked.byBlock === true ? { ...scan, way: 'by_block' } : scan, asked)
      }),
    readTransaction: (tx, watched) =>
      quorum.readTransaction((node) => readTransaction(scanOf(node, watched), tx)),
    nodesWithout: (tx) => nodesWithout(pool, (node) => readTransaction(scanOf(node, nobody), tx)),
    timeAt: (height) => onNode(nobody, async (scan) => (await blockFrom(scan, height)).at),
    heightAt: (at) => onNode(nobody, (scan) => heightAt(scan, at)),
    readBalances: ({ pairs }) => onNode(nobody, (scan) => readBalances(scan, pairs)),
    // A transaction tells what it did to all balances, so that scans show every movement.
    readMovements: () => Promise.resolve([]),
    readBalanceHistory: (request) => onNode(nobody, (scan) => readBalanceHistory(scan, request)),
    checkIdentity: () =>
      requireIdentity(nodes, (node) =>
        identityFaults({ node, cluster, atOnce: bounds.requestsAtOnce }, settings),
      ),
  }
}

function openParts(settings: NetworkSettings, options: ReaderOptions) {
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
    observe: ({ host, score }) => options.observeNode?.({ network: settings.name, node: host, score }),
  })
  const scanOf = (node: (typeof nodes)[number], watched: ReadonlySet<Address>): SolanaScan => ({
    node,
    watch: watchOf(settings, watched),
    bounds,
    memory: node.memory,
    way,
  })
  return { nodes, pool, cluster, bounds, scanOf }
}
