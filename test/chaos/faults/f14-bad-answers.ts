import type { ServerResponse } from 'node:http'
import type { RawScript } from '../../support/raw-node.ts'
import { startRawNode } from '../../support/raw-node.ts'
import { answersInPart, passesOn, type RpcFault, rpcFaults } from '../../support/rpc-faults.ts'
import { inPlaceOf } from '../daemons.ts'
import type { Fault } from '../fault.ts'
import { type ServiceProxy, startServiceProxy } from '../listing-proxy.ts'
import { untilReconciled } from '../looks.ts'
import { watchMemory } from '../memory.ts'
import type { Random } from '../random.ts'
import { untilSame } from '../until-same.ts'
import type { ChaosWorld, DaemonProcess, PaidDeposit } from '../world.ts'

/** Beside what no end is in sight of, so many ways in one run, as the seed says. */
const waysOnce = 3
/** One answer is read for 15 s at most; the rest is for a machine that has much else to do. */
const openMostMs = 40_000
/** Far less than one such body, of which several are under way at once. */
const grownMost = 400 * 1024 * 1024

/** Servers that are of no use: the daemon waits no longer, and holds no more, than it knows beforehand. */
export const badAnswers: Fault[] = [
  {
    name: 'F14',
    title: 'nodes answer 429, 5xx, in part, for ever, 500 MB, or not at all',
    ground: 'shared',
    strike: strikeNodes,
  },
  {
    name: 'F14',
    title: 'the service answers 429, 5xx, for ever, 500 MB, or not at all',
    ground: 'shared',
    strike: strikeService,
  },
]

/** What a server before the real one has seen of its answers. */
type Served = { ended: number; longestMs: number }

/** A server before a real one, which can be told to be of no use. */
type Front = { url: string; served: () => Served; behave: (fault?: RpcFault) => void }

async function strikeNodes(world: ChaosWorld, random: Random): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const struck = world.networks.filter(({ name }) => name !== 'arbitrum')
  const fronts = await Promise.all(struck.map(({ url }) => startNodeFront(url, stack)))
  const settings = struck.map(({ name }, place) => [`RPC_${name.toUpperCase()}`, fronts[place]?.url ?? ''])
  const environment = Object.fromEntries(settings)
  const daemon = await inPlaceOf(world, 'worker', { roles: 'worker,scheduler', environment })
  await strikeAll({ world, daemon, fronts, random })
}

async function strikeService(world: ChaosWorld, random: Random): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const proxy = stack.use(await startServiceProxy(world.service.url))
  const environment = { SERVICE_URL: proxy.url }
  const daemon = await inPlaceOf(world, 'worker', { roles: 'worker,scheduler', environment })
  await strikeAll({ world, daemon, fronts: [serviceFront(proxy)], random })
}

async function startNodeFront(url: string, stack: AsyncDisposableStack): Promise<Front> {
  const node = await startRawNode()
  stack.defer(() => node.stop())
  // Several calls at once are never answered whole.
  node.behave(answersInPart(url))
  let served: Served = { ended: 0, longestMs: 0 }
  return {
    url: node.url,
    served: () => served,
    behave(fault) {
      served = { ended: 0, longestMs: 0 }
      const counted = served
      const script: RawScript = fault === undefined ? passesOn(url) : fault.script(url)
      node.behave((response, asked) => {
        count(response, counted)
        script(response, asked)
      })
    },
  }
}

function count(response: ServerResponse, served: Served): void {
  const from = performance.now()
  response.once('close', () => {
    served.ended++
    served.longestMs = Math.max(served.longestMs, performance.now() - from)
  })
}

function serviceFront(proxy: ServiceProxy): Front {
  let served: Served = { ended: 0, longestMs: 0 }
  return {
    url: proxy.url,
    served: () => served,
    behave(fault) {
      served = { ended: 0, longestMs: 0 }
      const counted = served
      if (fault === undefined) return proxy.behave()
      const script = fault.script(proxy.url)
      proxy.behave((response) => {
        count(response, counted)
        script(response, { jsonrpc: '2.0', id: 1, method: '' })
        return true
      })
    },
  }
}

/** These rewrite what a node says to what it was asked, and need one behind them. */
const ofNodes = ['ends within its answer', 'is cut off within its answer', 'answers what was not asked']

type Striking = { world: ChaosWorld; daemon: DaemonProcess; fronts: readonly Front[]; random: Random }

async function strikeAll(striking: Striking): Promise<void> {
  const { world, fronts, random } = striking
  const isService = fronts.length === 1
  const usable = rpcFaults.filter(({ name }) => !isService || !ofNodes.includes(name))
  const huge = usable.filter(({ name }) => name.startsWith('sends 500 MB'))
  const others = random.shuffled(usable.filter((fault) => !huge.includes(fault)))
  const paid: PaidDeposit[] = []
  for (const fault of [random.pick(huge), ...others.slice(0, waysOnce)]) {
    paid.push(...(await strikeOnce(striking, fault)))
  }
  await untilReconciled(world, paid)
}

async function strikeOnce(
  { world, daemon, fronts }: Striking,
  fault: RpcFault,
): Promise<readonly PaidDeposit[]> {
  using memory = watchMemory(daemon.pid)
  for (const front of fronts) front.behave(fault)
  const paid = await world.pay(2)
  const least = fault.hangs === true ? 1 : 3
  for (const { served } of fronts) {
    await untilSame(`a server that ${fault.name} is asked in vain`, () => served().ended >= least, true)
  }
  const longestMs = Math.max(...fronts.map(({ served }) => served().longestMs))
  const grown = Math.round(memory.grown / 1024 / 1024)
  world.say(`a server that ${fault.name}: ${Math.round(longestMs)} ms at most, ${grown} MB more`)
  if (longestMs > openMostMs) throw new Error(`a server that ${fault.name} was waited for ${longestMs} ms`)
  if (memory.grown > grownMost) throw new Error(`a server that ${fault.name} cost ${grown} MB`)
  if (!daemon.isRunning()) throw new Error(`the daemon did not outlive a server that ${fault.name}`)
  for (const front of fronts) front.behave()
  return paid
}
