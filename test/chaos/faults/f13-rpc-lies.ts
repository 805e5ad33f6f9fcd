import type { Hex } from 'viem'
import { startAnvil } from '../../support/anvil.ts'
import type { Replayable } from '../../support/anvil-history.ts'
import { depositor } from '../../support/reported-networks.ts'
import {
  type Contradicted,
  contradicted,
  isElsewhere,
  type SeenThrough,
  seenThrough,
} from '../../support/rpc-lies.ts'
import { type RpcProxy, startRpcProxy } from '../../support/rpc-proxy.ts'
import type { Fault } from '../fault.ts'
import { bookedOf } from '../own-books.ts'
import { type OwnChain, startOwnChain } from '../own-chain.ts'
import { cursorOf, untilRead, untilRefused } from '../own-ground.ts'
import type { Random } from '../random.ts'
import { mustBeSame, untilSame } from '../until-same.ts'
import type { ChaosWorld } from '../world.ts'

/** So many lies in one run, as the seed says. */
const liesOnce = 3

/** Nodes that do not tell what is: nothing that is false is booked, and nothing that is true is missed. */
export const rpcLies: Fault[] = [
  {
    name: 'F13',
    title: 'a node lies so that it is seen through: logs that lack or are odd, blocks and chains of others',
    ground: 'own',
    strike: strikeAlone,
  },
  {
    name: 'F13',
    title: 'a node lies so that only others can contradict it',
    ground: 'own',
    strike: strikeAmongOthers,
  },
]

/** Each name of the chain has a liar of its own, for what one says next may depend on what it was asked. */
type Stage = OwnChain & { liars: readonly RpcProxy[] }

async function strikeAlone(world: ChaosWorld, random: Random): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const elsewhere = await startAnvil(1)
  stack.defer(() => elsewhere.stop())
  await elsewhere.mine(1000)
  const proxies: RpcProxy[] = []
  const chain = await startOwnChain({ world, random, stack }, async (at) => {
    const [mover, alone, preferred] = [
      await startBefore(at, stack),
      await startBefore(at, stack),
      await startBefore(at, stack),
    ]
    mover.behave(isElsewhere(elsewhere))
    proxies.push(mover, alone, preferred)
    return [
      { urls: [alone.url] },
      { name: 'spare', urls: [preferred.url, at.anvil.url] },
      { name: 'moved', urls: [mover.url] },
    ]
  })
  const [mover, ...liars] = proxies
  const { ground } = chain
  const isRefused = () =>
    ground.logged().some((line) => line.includes('RPC_MOVED: expected chain id 8453, found 1'))
  await untilSame('a node of another chain is refused', isRefused, true)
  mustBeSame('where it is read up to', await cursorOf(ground, 'moved'), null)
  mover?.behave()
  await chain.makeFinal()
  for (const lie of random.shuffled(seenThrough).slice(0, liesOnce)) {
    const read = await readUpTo(chain)
    for (const liar of liars) liar.behave(lie.script(read, elsewhere))
    await reportLie({ ...chain, liars }, lie)
  }
  const troubles = `select kind, detail from mismatch where subject like 'network/%'`
  mustBeSame('what is told of networks', await ground.rows(troubles), [])
  await chain.hold()
}

async function startBefore({ anvil }: Replayable, stack: AsyncDisposableStack): Promise<RpcProxy> {
  const proxy = await startRpcProxy(anvil.url)
  stack.defer(() => proxy.stop())
  return proxy
}

const readUpTo = async ({ ground }: OwnChain): Promise<bigint> =>
  (await cursorOf(ground, 'base'))?.height ?? 0n

/** It moves nothing where nobody else can be asked, and where somebody can, reading goes on. */
async function reportLie(stage: Stage, { name, refusal }: SeenThrough): Promise<void> {
  const { anvil, ground, liars } = stage
  const txs = await payBoth(stage)
  await anvil.mine(4)
  await untilRefused(ground, refusal)
  const height = (await anvil.client.getBlockNumber()) - 3n
  if ((await readUpTo(stage)) >= height) throw new Error(`reading went on over a node that ${name}`)
  mustBeSame(`what is booked over a node that ${name}`, await bookedOf(ground, 'base', txs), [])
  await untilRead(ground, 'spare', height)
  await stage.mayKill()
  for (const liar of liars) liar.behave()
  await stage.makeFinal()
  await untilBooked(stage, ['base', 'spare'], txs)
}

/** Tokens and coin. */
async function payBoth({ anvil, pay }: OwnChain): Promise<Hex[]> {
  return [await pay(), await anvil.client.sendTransaction({ to: depositor, value: 5n, gas: 100_000n })]
}

async function untilBooked(
  { ground }: OwnChain,
  networks: readonly string[],
  txs: readonly string[],
): Promise<void> {
  for (const network of networks) {
    await untilSame(`what is booked on ${network}`, () => bookedOf(ground, network, txs), [
      'deposit',
      'deposit',
    ])
  }
}

async function strikeAmongOthers(world: ChaosWorld, random: Random): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const proxies: RpcProxy[] = []
  const chain = await startOwnChain({ world, random, stack }, async (at) => {
    const [ofPair, ofTrio, third] = [
      await startBefore(at, stack),
      await startBefore(at, stack),
      await startBefore(at, stack),
    ]
    proxies.push(ofPair, ofTrio)
    const more = { startHeight: 0, quorum: 2 }
    return [
      { name: 'pair', more, urls: [ofPair.url, at.anvil.url] },
      { name: 'trio', more, urls: [ofTrio.url, at.anvil.url, third.url] },
    ]
  })
  const [liar] = proxies
  if (liar === undefined) throw new Error('the liar is there')
  await chain.makeFinal()
  for (const lie of random.shuffled(contradicted).slice(0, liesOnce))
    await contradict({ ...chain, liars: proxies }, lie)
  await chain.hold()
}

/** Two of three outvote it; of two, nothing is booked until they agree. */
async function contradict(stage: Stage, { name, script }: Contradicted): Promise<void> {
  const { anvil, ground, liars, token } = stage
  for (const liar of liars) liar.behave(script(anvil, token.address))
  const before = (await anvil.client.getBlockNumber()) - 2n
  const txs = [await payInVain(stage), ...(await payBoth(stage))]
  await anvil.mine(3)
  const open = [{ kind: 'rpc_disagreement', booked: 'nothing' }]
  await untilSame(`a node that ${name} is told of`, () => disagreements(stage, 'pair'), open)
  await untilRead(ground, 'trio', (await anvil.client.getBlockNumber()) - 2n)
  await untilBooked(stage, ['trio'], txs)
  const reported = await disagreements(stage, 'trio', true)
  if (reported.every(({ booked }) => booked !== 'the result on which the other nodes agree')) {
    throw new Error(`a node that ${name} was not told to be outvoted: ${JSON.stringify(reported)}`)
  }
  if (((await cursorOf(ground, 'pair'))?.height ?? 0n) >= before + 4n)
    throw new Error('two that differ were read on')
  mustBeSame('what is booked where two differ', await bookedOf(ground, 'pair', txs), [])
  await stage.mayKill()
  for (const liar of liars) liar.behave()
  await stage.makeFinal()
  await untilBooked(stage, ['pair'], txs)
  for (const network of ['pair', 'trio']) {
    await untilSame('what is told of disagreement', () => disagreements(stage, network), [])
  }
}

/** Coin that its receiver refuses. */
async function payInVain({ anvil }: OwnChain): Promise<Hex> {
  await anvil.client.setCode({ address: depositor, bytecode: '0xfe' })
  const failed = await anvil.client.sendTransaction({ to: depositor, value: 5n, gas: 100_000n })
  await anvil.mine()
  await anvil.client.setCode({ address: depositor, bytecode: '0x' })
  return failed
}

type Disagreement = { kind: string; booked: string | null }

/** Open now, or ever. */
function disagreements({ ground }: OwnChain, network: string, ever = false): Promise<Disagreement[]> {
  return ground.rows<Disagreement>(
    `select kind, detail ->> 'booked' as booked from mismatch
     where subject = $1 and (cleared_at is null or $2)`,
    [`network/${network}`, ever],
  )
}
