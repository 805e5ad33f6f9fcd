import type { Address, AssetKey, TxId } from '../core/asset.ts'
import { Fault, isFault } from '../core/errors.ts'
import { mapBounded } from './map-bounded.ts'
import { defaultBounds, defaultReading, type ReaderOptions } from './options.ts'
import { Pool, type PooledNode } from './pool.ts'
import { nodesWithout, Quorum } from './quorum.ts'
import type {
  FullChainReader,
  NetworkSettings,
  RangeRequest,
  RangeResult,
  ScanRequest,
  ScanResult,
  TransactionReading,
} from './types.ts'

/** How networks of one family are read on one node. */
export type FamilyReading<Node, Scan> = {
  nodes: readonly Node[]
  scanOf: (node: Node, watched: ReadonlySet<Address>) => Scan
  /** Empty if the node is of the right chain. Otherwise nothing else is checked. */
  chainFaults: (node: Node) => Promise<readonly string[]>
  settingsFaults: (node: Node) => Promise<readonly string[]>
  /** For problems with assets. */
  nameOf: (node: Node) => string
  /** Null if there is no token. */
  readDecimals: (node: Node, key: AssetKey) => Promise<number | null>
  tracingNodes: (pool: Pool<Node & PooledNode>) => Promise<readonly Node[]>
  /** Null if the node has no final block yet. */
  finalHeight: (scan: Scan) => Promise<bigint | null>
  scan: (scan: Scan, request: ScanRequest) => Promise<ScanResult>
  readRange: (scan: Scan, request: RangeRequest) => Promise<RangeResult>
  readTransaction: (scan: Scan, tx: TxId) => Promise<TransactionReading>
  heightAt: (scan: Scan, at: Date) => Promise<bigint | null>
  timeAt: (scan: Scan, height: bigint) => Promise<Date>
}

const nobody: ReadonlySet<Address> = new Set()

/**
 * All of one reading stays on one node; if it fails, the next one does all of it. With a quorum, only agreed results
 * count.
 */
export function assembleReader<Node extends PooledNode, Scan>(
  settings: NetworkSettings,
  options: ReaderOptions,
  family: FamilyReading<Node, Scan>,
) {
  const { scanOf } = family
  const network = settings.name
  const { quorum: size } = settings.reading ?? defaultReading
  const { restMs, requestsAtOnce } = { ...defaultBounds, ...options.bounds }
  const observe: ConstructorParameters<typeof Pool>[0]['observe'] = ({ host, score }) =>
    options.observeNode?.({ network, node: host, score })
  const poolOf = (nodes: readonly Node[]) =>
    new Pool({ nodes, restMs, chainFaults: family.chainFaults, observe })
  const finalHeight = (node: Node) => family.finalHeight(scanOf(node, nobody))
  const quorumOf = (from: Pool<Node>) => new Quorum({ network, pool: from, quorum: size, finalHeight })
  const pool = poolOf(family.nodes)
  const quorum = quorumOf(pool)
  const onNode = <Result>(read: (scan: Scan) => Promise<Result>, watched = nobody) =>
    pool.onFirst((node) => read(scanOf(node, watched)))
  const decimalsOn = (node: Node, keys: readonly AssetKey[]) =>
    mapBounded(keys, requestsAtOnce, (key) => family.readDecimals(node, key))
  const reader = {
    network,
    scan: (request) => quorum.scan(request, (node, asked) => family.scan(scanOf(node, asked.watched), asked)),
    readRange: async (request) => {
      const tracing = request.traced === true ? await family.tracingNodes(pool) : []
      const traced = tracing.length >= size
      const agreeing = traced ? quorumOf(poolOf(tracing)) : quorum
      return agreeing.readRange({ ...request, traced }, (node, asked) =>
        family.readRange(scanOf(node, asked.watched), asked),
      )
    },
    readTransaction: (tx, watched) =>
      quorum.readTransaction((node) => family.readTransaction(scanOf(node, watched), tx)),
    nodesWithout: (tx) => nodesWithout(pool, (node) => family.readTransaction(scanOf(node, nobody), tx)),
    timeAt: (height) => onNode((scan) => family.timeAt(scan, height)),
    heightAt: (at) => onNode((scan) => family.heightAt(scan, at)),
    readDecimals: (keys) => askEach(pool.nodes, (node) => decimalsOn(node, keys)),
    checkIdentity: () => checkIdentity(settings, family, decimalsOn),
  } satisfies Omit<FullChainReader, 'readBalances' | 'readMovements'>
  return { pool, onNode, reader }
}

/** @throws Fault `settings_bad` with all problems; `remote_failed` if no node answers */
async function checkIdentity<Node extends PooledNode, Scan>(
  { assets }: NetworkSettings,
  { nodes, chainFaults, settingsFaults, nameOf }: FamilyReading<Node, Scan>,
  decimalsOn: (node: Node, keys: readonly AssetKey[]) => Promise<readonly (number | null)[]>,
): Promise<void> {
  const faults = await askEach(nodes, async (node) => {
    const chain = await chainFaults(node)
    if (chain.length > 0) return chain
    const others = await settingsFaults(node)
    const found = await decimalsOn(
      node,
      assets.map(({ key }) => key),
    )
    const tokens = assets.flatMap(({ key, symbol, decimals }, index) => {
      const problem = `expected decimals ${decimals}, found ${found[index] ?? 'no token'} (${nameOf(node)})`
      return found[index] === decimals ? [] : [`asset ${symbol} (${key}): ${problem}`]
    })
    return [...others, ...tokens]
  })
  if (faults.flat().length > 0) throw new Fault('settings_bad', { faults: faults.flat() })
}

/**
 * A node that does not answer is skipped as long as another does: it is checked before its first read.
 * @throws Fault `remote_failed` if no node answers; other errors at once
 */
async function askEach<Node, Answer>(
  nodes: readonly Node[],
  ask: (node: Node) => Promise<Answer>,
): Promise<Answer[]> {
  const outcomes = await Promise.allSettled(nodes.map(ask))
  const failures = outcomes.flatMap((one): unknown[] => (one.status === 'rejected' ? [one.reason] : []))
  const bug = failures.find((failure) => !isFault(failure, 'remote_failed'))
  if (bug !== undefined) throw bug
  if (failures.length === nodes.length) throw failures[0]
  return outcomes.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
}
