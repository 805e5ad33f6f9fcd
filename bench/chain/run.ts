import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { defaultBounds } from '../../src/chain/options.ts'
import { type ScriptedChain, scriptedChain } from '../../test/support/scripted-evm-chain.ts'
import type { Behaviour } from '../../test/support/scripted-evm-node.ts'
import { describeMachine, type Machine } from '../machine.ts'
import type { Figure, Result } from '../result.ts'
import { type Spread, spreadOf, spreadText } from '../statistics.ts'
import { type Arm, arms, type Found, readBare, readOurs } from './arms.ts'
import { readingFigures } from './figures.ts'
import { type Least, leastRequests } from './least.ts'
import type { Counts } from './serve.ts'

/** `scale` is the part of the whole chain that is read: 1 for 100,000 blocks. */
type Settings = { rounds: number; scale: number }

const whole = { seed: 6, blocks: 100_000, addresses: 10_000, transfers: 50_000, others: 20_000 }
const blockLimits = [10, 2000, 10_000]
const provider = { resultsMax: 10_000, quotaPercent: 2, latencyMs: 50 }
/** One request at a time takes long: it is measured on this part of the chain, in blocks per second. */
const sequentialPart = 20
const targets = { bare: 0.9, sequential: 5, requests: 1.15 }

type Round = {
  arm: Arm
  blocksMax: number
  blocksPerSecond: number
  counts: Counts
  heapGrowth: number
}

type Node = { url: string; report(changes: Partial<Behaviour>): Promise<Counts> }

type Row = {
  blocksMax: number
  blocksPerSecond: Record<Arm, Spread>
  overBare: Spread & { isMet: boolean }
  overSequential: Spread & { isMet: boolean }
  least: Least
  requests: { ours: number; overLeast: number; isMet: boolean; logQueries: number; refused: number }
  /** Of the heap, from after the first scan to after the last, in MB. */
  heapGrowthMb: number
}

type Report = { machine: Machine; settings: Record<string, number>; rows: Row[]; invariants: string }

/** B6: all arms in turns on one scripted node. Throws where an arm of ours misses a transfer: the run is void then. */
export async function runChain({ rounds, scale }: Settings): Promise<Result> {
  setFlagsFromString('--expose-gc')
  globalThis.gc = runInNewContext('gc') as typeof globalThis.gc
  const scaled = {
    ...whole,
    blocks: Math.round(whole.blocks * scale),
    transfers: Math.round(whole.transfers * scale),
    others: Math.round(whole.others * scale),
  }
  const chain = scriptedChain(scaled)
  await using stack = new AsyncDisposableStack()
  const stop = () => void stack.disposeAsync().finally(() => process.exit(1))
  process.once('SIGINT', stop).once('SIGTERM', stop)
  const machine = describeMachine(tmpdir(), ['viem'])
  const node = await startNode(stack, scaled)
  const measured: Round[] = []
  for (const blocksMax of blockLimits) {
    for (let round = 1; round <= rounds; round++) {
      for (const arm of Object.keys(arms) as Arm[]) {
        const one = await measure(node, chain, { arm, blocksMax })
        const { answered, refused } = one.counts
        const said = `${Math.round(one.blocksPerSecond)} blocks/s, ${answered} requests, ${refused} refused`
        process.stderr.write(`B6 ${blocksMax} blocks, round ${round}, ${arm}: ${said}
`)
        measured.push(one)
      }
    }
  }
  const report: Report = {
    machine,
    settings: { rounds, ...scaled, ...provider, requestsAtOnce: defaultBounds.requestsAtOnce },
    rows: blockLimits.map((blocksMax) => rowOf(chain, blocksMax, measured)),
    invariants: 'held: every transfer to a watched address was found, and nothing else',
  }
  return { report, text: textOf(report), figures: report.rows.flatMap(figuresOf) }
}

async function startNode(stack: AsyncDisposableStack, settings: typeof whole): Promise<Node> {
  const child = fork(join(import.meta.dirname, 'serve.ts'), [JSON.stringify(settings)])
  stack.defer(() => stopped(child))
  const [{ url }] = (await once(child, 'message')) as [{ url: string }]
  return {
    url,
    async report(changes) {
      child.send(changes)
      const [counts] = (await once(child, 'message')) as [Counts]
      return counts
    },
  }
}

async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  child.disconnect()
  await once(child, 'exit')
}

async function measure(
  node: Node,
  chain: ScriptedChain,
  { arm, blocksMax }: { arm: Arm; blocksMax: number },
): Promise<Round> {
  await node.report({ ...provider, blocksMax })
  const part = arm === 'sequential' ? sequentialPart : 1
  const reading = { url: node.url, chain, blocksMax, from: 1, to: Math.floor((chain.blocks - 1) / part) }
  const startedMs = performance.now()
  const found = await readAs(arm, reading)
  const seconds = (performance.now() - startedMs) / 1000
  const counts = await node.report({})
  checkFound(chain, reading.to, { found, arm })
  const { heapBytes } = found
  return {
    arm,
    blocksMax,
    blocksPerSecond: reading.to / seconds,
    counts,
    heapGrowth: (heapBytes.at(-1) ?? 0) - (heapBytes[0] ?? 0),
  }
}

function readAs(arm: Arm, reading: Parameters<typeof readOurs>[0]): Promise<Found> {
  if (arm === 'ours') return readOurs(reading)
  return readBare(reading, arm === 'bare' ? defaultBounds.requestsAtOnce : 1)
}

function checkFound(chain: ScriptedChain, to: number, { found, arm }: { found: Found; arm: Arm }): void {
  const expected = chain.transfers.filter(({ height }) => height <= to)
  const missing = expected.filter(({ height, logIndex }) => !found.keys.has(`${height}/${logIndex}`))
  if (missing.length > 0 || found.keys.size !== expected.length)
    throw new Error(
      `${arm} missed ${missing.length} of ${expected.length} transfers, and found ${found.keys.size}`,
    )
}

function rowOf(chain: ScriptedChain, blocksMax: number, measured: readonly Round[]): Row {
  const of = (arm: Arm) => measured.filter((round) => round.blocksMax === blocksMax && round.arm === arm)
  const speeds = (arm: Arm) => of(arm).map(({ blocksPerSecond }) => blocksPerSecond)
  const over = (arm: Arm) =>
    spreadOf(speeds('ours').map((speed, round) => speed / (speeds(arm)[round] ?? Number.NaN)))
  const least = leastRequests(chain, { blocksMax, ...provider })
  const ours = spreadOf(of('ours').map(({ counts }) => counts.answered)).max
  const overBare = over('bare')
  const overSequential = over('sequential')
  return {
    blocksMax,
    blocksPerSecond: {
      ours: spreadOf(speeds('ours')),
      bare: spreadOf(speeds('bare')),
      sequential: spreadOf(speeds('sequential')),
    },
    overBare: { ...overBare, isMet: overBare.median >= targets.bare },
    overSequential: { ...overSequential, isMet: overSequential.median >= targets.sequential },
    least,
    requests: {
      ours,
      overLeast: ours / least.requests,
      isMet: ours / least.requests <= targets.requests,
      logQueries: spreadOf(of('ours').map(({ counts }) => counts.calls['eth_getLogs'] ?? 0)).max,
      refused: spreadOf(of('ours').map(({ counts }) => counts.refused)).median,
    },
    heapGrowthMb: spreadOf(of('ours').map(({ heapGrowth }) => heapGrowth / 1e6)).median,
  }
}

function figuresOf({ blocksMax, overBare, overSequential, requests }: Row): Figure[] {
  const at = `${blocksMax.toLocaleString('en')} blocks: `
  return readingFigures(at, { overBare, overSequential, requests }, targets)
}

function textOf({ machine, settings, rows, invariants }: Report): string {
  const said = Object.entries(settings).map(([name, value]) => `${name} ${value}`)
  return [
    `${machine.processor}, ${machine.cores} cores, load ${machine.load.toFixed(2)} before; node ${machine.node}, viem ${machine.packages['viem']}`,
    said.join(', '),
    '',
    'B6 chain scan: median (range) over the rounds',
    ...rows.flatMap(linesOf),
    '',
    ...Object.entries(arms).map(([arm, what]) => `  ${arm.padEnd(10)} ${what}`),
    `invariants ${invariants}`,
    '',
  ].join('\n')
}

function linesOf({
  blocksMax,
  blocksPerSecond,
  overBare,
  overSequential,
  least,
  requests,
  heapGrowthMb,
}: Row): string[] {
  return [
    `  ${blocksMax.toLocaleString('en')} blocks and ${provider.resultsMax.toLocaleString('en')} results a query`,
    ...(Object.keys(arms) as Arm[]).map(
      (arm) => `    ${arm.padEnd(10)} ${spreadText(blocksPerSecond[arm]).padStart(26)} blocks/s`,
    ),
    `    ours is ${spreadText(overBare, 2)} x bare, to be at least ${targets.bare} x: ${met(overBare.isMet)}`,
    `    ours is ${spreadText(overSequential, 1)} x sequential, to be at least ${targets.sequential} x: ${met(overSequential.isMet)}`,
    `    requests ${requests.ours} (log queries ${requests.logQueries}), the least ${least.requests} (${least.logQueries}): ${requests.overLeast.toFixed(3)} x, to be at most ${targets.requests} x: ${met(requests.isMet)}; refused beside them ${requests.refused}`,
    `    heap after the last scan against the first: ${heapGrowthMb >= 0 ? '+' : ''}${heapGrowthMb.toFixed(1)} MB`,
  ]
}

function met(isMet: boolean): string {
  return isMet ? 'met' : 'MISSED'
}
