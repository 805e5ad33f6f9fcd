import { type Hex, toHex } from 'viem'
import { type Answer, type RpcProxy, type Script, startRpcProxy } from '../../support/rpc-proxy.ts'
import type { Fault } from '../fault.ts'
import { statesOf, untilStateIs } from '../own-books.ts'
import { type OwnChain, startOwnChain } from '../own-chain.ts'
import { cursorOf } from '../own-ground.ts'
import { mustBeSame, untilSame } from '../until-same.ts'

const noTag: Answer = { error: { code: -32_602, message: 'unknown block tag finalized' } }

/** So many of them in one run, as the seed says. */
const actsOnce = 3

/** A chain, and the node before it that says what is final. */
type Stage = OwnChain & { node: RpcProxy }

/** Finality stalls, moves back, is nowhere, or is not known to the node at all: nothing is booked before it. */
export const finality: Fault = {
  name: 'F12',
  title: 'finality stalls, moves back, and its tag is not supported',
  ground: 'own',
  async strike(world, random) {
    await using stack = new AsyncDisposableStack()
    let node: RpcProxy | null = null
    const chain = await startOwnChain({ world, random, stack }, async ({ anvil }) => {
      node = await startRpcProxy(anvil.url)
      node.behave(says(noTag))
      return [{ urls: [node.url] }]
    })
    if (node === null) throw new Error('the chain has a node')
    const stage: Stage = { ...chain, node }
    stack.defer(() => stage.node.stop())
    await lacksTag(stage)
    const acts = random.shuffled([stalls, movesBack, isNowhere, losesWhatWasFinal])
    for (const act of acts.slice(0, actsOnce)) await act(stage)
    await stage.hold()
  },
}

/** What a node answers where it is asked for what is final. */
const says =
  (answer: Answer): Script =>
  ({ method, params }, forward) =>
    method === 'eth_getBlockByNumber' && params[0] === 'finalized' ? answer : forward()

/** The answer of a node that calls nothing final above that height. */
async function finalAt({ anvil }: Stage, height: bigint): Promise<Answer> {
  const params = [toHex(height), false]
  return { result: await anvil.client.request({ method: 'eth_getBlockByNumber', params } as never) }
}

const finalHead = async ({ anvil }: Stage): Promise<bigint> =>
  (await anvil.client.getBlock({ blockTag: 'finalized' })).number

async function pay({ anvil, pay: send }: Stage): Promise<Hex> {
  const tx = await send()
  await anvil.mine()
  return tx
}

/** The daemon asked three times more what is final: the fault struck, whatever came of it. */
async function askedAgain({ node }: Stage): Promise<void> {
  node.calls.length = 0
  const isAsked = () => node.calls.filter(({ params }) => params[0] === 'finalized').length >= 3
  await untilSame('the node is asked what is final', isAsked, true)
}

/** Nothing is read, the setting is named, and reading begins once the node knows the tag. */
async function lacksTag(stage: Stage): Promise<void> {
  const { anvil, ground, node } = stage
  const tx = await pay(stage)
  await anvil.mine(5)
  const named = 'the node does not support the block tag finalized (setting networks: base: finality)'
  await untilSame('the setting is named', () => ground.logged().some((line) => line.includes(named)), true)
  await askedAgain(stage)
  mustBeSame('the cursor', await cursorOf(ground, 'base'), null)
  mustBeSame('what is known', await statesOf(ground, tx), [])
  node.behave()
  await untilStateIs(ground, tx, 'confirmed deposit')
}

/** What is paid meanwhile is seen and not booked, and what vanishes meanwhile never is, although the service has credited it. */
async function stalls(stage: Stage): Promise<void> {
  const { anvil, ground, node } = stage
  await stage.makeFinal()
  const stalledAt = await finalHead(stage)
  node.behave(says(await finalAt(stage, stalledAt)))
  const reported = await pay(stage)
  await stage.credit(reported)
  await anvil.mine(stage.random.between(20, 70))
  const dropped = await pay(stage)
  await untilStateIs(ground, reported, 'observed')
  await untilStateIs(ground, dropped, 'observed')
  await stage.credit(dropped)
  const claimed = 'select from deposit where tx = $1 and api_at is not null'
  await untilSame('what is claimed', async () => (await ground.rows(claimed, [dropped])).length, 1)
  await anvil.reorg(1)
  await stage.mayKill()
  await askedAgain(stage)
  mustBeSame('what is booked of it', await statesOf(ground, reported), ['observed'])
  mustBeSame('the cursor', (await cursorOf(ground, 'base'))?.height, stalledAt)
  node.behave()
  await untilStateIs(ground, reported, 'reconciled deposit settlement conversion')
  await stage.makeFinal()
  await untilStateIs(ground, dropped, 'orphaned')
}

const movesBack = (stage: Stage): Promise<void> =>
  goesBack(stage, async () => finalAt(stage, (await finalHead(stage)) - 8n))

const isNowhere = (stage: Stage): Promise<void> => goesBack(stage, () => Promise.resolve({ result: null }))

/** Nothing is taken back, and nothing more is booked. */
async function goesBack(stage: Stage, answer: () => Promise<Answer>): Promise<void> {
  const { anvil, ground, node } = stage
  await anvil.mine(10)
  const before = await pay(stage)
  await stage.makeFinal()
  await untilStateIs(ground, before, 'confirmed deposit')
  const cursor = await cursorOf(ground, 'base')
  node.behave(says(await answer()))
  const tx = await pay(stage)
  await anvil.mine(5)
  await untilStateIs(ground, tx, 'observed')
  await stage.mayKill()
  await askedAgain(stage)
  mustBeSame('what is booked of it', await statesOf(ground, tx), ['observed'])
  mustBeSame('what was booked', await statesOf(ground, before), ['confirmed deposit'])
  mustBeSame('the cursor', await cursorOf(ground, 'base'), cursor)
  node.behave()
  await untilStateIs(ground, tx, 'confirmed deposit')
}

/** The history changes that was final: what is gone is reversed. */
async function losesWhatWasFinal(stage: Stage): Promise<void> {
  const { anvil, ground, node } = stage
  await stage.makeFinal()
  const fork = await anvil.client.getBlockNumber()
  const tx = await pay(stage)
  await stage.makeFinal()
  await untilStateIs(ground, tx, 'confirmed deposit')
  node.behave(says(await finalAt(stage, fork - 2n)))
  await anvil.reorg(Number((await anvil.client.getBlockNumber()) - fork))
  await anvil.mine(2)
  const wanted = ['orphaned deposit reversal']
  await untilSame('what is booked of what is gone', () => statesOf(ground, tx, true), wanted)
  node.behave()
}
