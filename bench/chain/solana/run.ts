import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { defaultBounds } from '../../../src/chain/options.ts'
import { describeMachine, type Machine } from '../../machine.ts'
import type { Result } from '../../result.ts'
import { type Spread, spreadOf, spreadText } from '../../statistics.ts'
import { readingFigures } from '../figures.ts'
import { readBare, readOurs, type SolanaArm, type SolanaFound, solanaArms } from './arms.ts'
import { type Payments, paymentsOf } from './payments.ts'
import type { ServeSettings, SolanaCounts } from './serve.ts'

/** `scale` is the part of the whole chain that is read: 1 for 20,000 transactions. */
type Settings = { rounds: number; scale: number }

const whole = { seed: 6, transfers: 20_000, owners: 20, perSlot: 10, failedOf: 20 }
const provider = { latencyMs: 50, quotaPercent: 2 }
/** One request at a time takes long: it is measured on one owner. */
const ownersOfSequential = 1
const targets = { bare: 0.9, sequential: 5, requests: 1.15 }

type Round = { arm: SolanaArm; perSecond: number; counts: SolanaCounts; heapGrowth: number }
type Judged = Spread & { isMet: boolean }

type Report = {
  machine: Machine
  settings: Record<string, number>
  paymentsPerSecond: Record<SolanaArm, Spread>
  overBare: Judged
  overSequential: Judged
  requests: { ours: number; least: number; overLeast: number; isMet: boolean; refused: number }
  heapGrowthMb: number
  invariants: string
}

/** B6 on Solana: all arms in turns on one scripted node. Throws where an arm misses a payment: the run is void then. */
export async function runChainSolana({ rounds, scale }: Settings): Promise<Result> {
  setFlagsFromString('--expose-gc')
  globalThis.gc = runInNewContext('gc') as typeof globalThis.gc
  const settings = { ...whole, transfers: Math.round(whole.transfers * scale), ...provider }
  const chain = await paymentsOf(settings)
  await using stack = new AsyncDisposableStack()
  const stop = () => void stack.disposeAsync().finally(() => process.exit(1))
  process.once('SIGINT', stop).once('SIGTERM', stop)
  const machine = describeMachine(tmpdir(), ['@solana/kit'])
  const node = await startNode(stack, settings)
  const measured: Round[] = []
  for (let round = 1; round <= rounds; round++) {
    for (const arm of Object.keys(solanaArms) as SolanaArm[]) {
      const one = await measure(node, chain, arm)
      process.stderr.write(`B6 Solana, round ${round}, ${arm}: ${Math.round(one.perSecond)} payments/s\n`)
      measured.push(one)
    }
  }
  const report = reportOf({ rounds, ...settings }, { machine, chain, measured })
  return { report, text: textOf(report), figures: readingFigures('Solana: ', report, targets) }
}

type Node = { url: string; counts(): Promise<SolanaCounts> }

async function startNode(stack: AsyncDisposableStack, settings: ServeSettings): Promise<Node> {
  const child = fork(join(import.meta.dirname, 'serve.ts'), [JSON.stringify(settings)])
  stack.defer(() => stopped(child))
  const [{ url }] = (await once(child, 'message')) as [{ url: string }]
  const counts = async () => {
    child.send({})
    return ((await once(child, 'message')) as [SolanaCounts])[0]
  }
  return { url, counts }
}

async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  child.disconnect()
  await once(child, 'exit')
}

async function measure(node: Node, chain: Payments, arm: SolanaArm): Promise<Round> {
  await node.counts()
  const owners = arm === 'sequential' ? ownersOfSequential : chain.owners.length
  const startedMs = performance.now()
  const read = await readAs(arm, { url: node.url, chain, owners })
  const seconds = (performance.now() - startedMs) / 1000
  const expected = paidTo(chain, owners)
  checkFound(expected, { read, arm })
  const heapGrowth = (read.heap.at(-1) ?? 0) - (read.heap[0] ?? 0)
  return { arm, perSecond: expected.size / seconds, counts: await node.counts(), heapGrowth }
}

function readAs(arm: SolanaArm, reading: Parameters<typeof readOurs>[0]): Promise<SolanaFound> {
  if (arm === 'ours') return readOurs(reading)
  return readBare(reading, arm === 'bare' ? defaultBounds.requestsAtOnce : 1)
}

function paidTo({ payments, signatureOf }: Payments, owners: number): Set<string> {
  const paid = payments.filter(({ failed, owner }) => !failed && owner < owners)
  return new Set(paid.map(({ number }) => `${signatureOf(number)} ${number + 1}`))
}

function checkFound(
  expected: ReadonlySet<string>,
  { read, arm }: { read: SolanaFound; arm: SolanaArm },
): void {
  const missing = expected.difference(read.found).size
  if (missing > 0 || read.found.size !== expected.size)
    throw new Error(`${arm} missed ${missing} of ${expected.size} payments, and found ${read.found.size}`)
}

/**
 * What who knows everything beforehand asks for: the genesis, the mint, the first block and the final slot; of each
 * owner his accounts, his own history and the pages of his account's; each payment once, and its block once.
 */
function leastRequests({ payments, owners }: Payments): number {
  const paid = payments.filter(({ failed }) => !failed)
  const entries = Map.groupBy(payments, ({ owner }) => owner)
  const pages = owners.reduce(
    (sum, _, owner) => sum + Math.floor((entries.get(owner)?.length ?? 0) / 1000) + 1,
    0,
  )
  return 4 + 2 * owners.length + pages + paid.length + new Set(paid.map(({ slot }) => slot)).size
}

type Measured = { machine: Machine; chain: Payments; measured: readonly Round[] }

function reportOf(settings: Record<string, number>, { machine, chain, measured }: Measured): Report {
  const of = (arm: SolanaArm) => measured.filter((round) => round.arm === arm)
  const speeds = (arm: SolanaArm) => of(arm).map(({ perSecond }) => perSecond)
  const over = (arm: SolanaArm, target: number): Judged => {
    const spread = spreadOf(speeds('ours').map((speed, round) => speed / (speeds(arm)[round] ?? Number.NaN)))
    return { ...spread, isMet: spread.median >= target }
  }
  const least = leastRequests(chain)
  const ours = spreadOf(of('ours').map(({ counts }) => counts.answered)).max
  const overLeast = ours / least
  return {
    machine,
    settings: { ...settings, requestsAtOnce: defaultBounds.requestsAtOnce },
    paymentsPerSecond: {
      ours: spreadOf(speeds('ours')),
      bare: spreadOf(speeds('bare')),
      sequential: spreadOf(speeds('sequential')),
    },
    overBare: over('bare', targets.bare),
    overSequential: over('sequential', targets.sequential),
    requests: {
      ours,
      least,
      overLeast,
      isMet: overLeast <= targets.requests,
      refused: spreadOf(of('ours').map(({ counts }) => counts.refused)).median,
    },
    heapGrowthMb: spreadOf(of('ours').map(({ heapGrowth }) => heapGrowth / 1e6)).median,
    invariants: 'held: every payment to a watched owner was found with its amount, and nothing else',
  }
}

function textOf(report: Report): string {
  const { machine, settings, paymentsPerSecond, overBare, overSequential, requests, heapGrowthMb } = report
  const arms = Object.entries(solanaArms) as [SolanaArm, string][]
  return [
    `${machine.processor}, ${machine.cores} cores, load ${machine.load.toFixed(2)} before; node ${machine.node}, @solana/kit ${machine.packages['@solana/kit']}`,
    Object.entries(settings)
      .map(([name, value]) => `${name} ${value}`)
      .join(', '),
    '',
    'B6 chain scan on Solana, 1,000 signatures a page: median (range) over the rounds',
    ...arms.map(
      ([arm]) => `    ${arm.padEnd(10)} ${spreadText(paymentsPerSecond[arm]).padStart(26)} payments/s`,
    ),
    `    ours is ${spreadText(overBare, 2)} x bare, to be at least ${targets.bare} x: ${met(overBare)}`,
    `    ours is ${spreadText(overSequential, 1)} x sequential, to be at least ${targets.sequential} x: ${met(overSequential)}`,
    `    requests ${requests.ours}, the least ${requests.least}: ${requests.overLeast.toFixed(3)} x, to be at most ${targets.requests} x: ${met(requests)}; refused beside them ${requests.refused}`,
    `    heap after the last scan against the first: ${heapGrowthMb >= 0 ? '+' : ''}${heapGrowthMb.toFixed(1)} MB`,
    '',
    ...arms.map(([arm, what]) => `  ${arm.padEnd(10)} ${what}`),
    `invariants ${report.invariants}`,
    '',
  ].join('\n')
}

function met({ isMet }: { isMet: boolean }): string {
  return isMet ? 'met' : 'MISSED'
}
