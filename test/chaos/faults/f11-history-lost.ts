import type { Hex } from 'viem'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { type Replayable, rawOf, replaceAbove, startReplayable } from '../../support/anvil-history.ts'
import { spawnProgram } from '../../support/embedded-program.ts'
import { depositor } from '../../support/reported-networks.ts'
import { type RpcProxy, type Script, startRpcProxy } from '../../support/rpc-proxy.ts'
import type { Fault } from '../fault.ts'
import { holdOwnBooks, statesOf, untilStateIs } from '../own-books.ts'
import { cursorOf, type OwnGround, startOwnGround, untilRead } from '../own-ground.ts'
import { mustBeSame, untilSame } from '../until-same.ts'

/** The daemon comes when the chains are that long, and remembers nothing of before. */
const oldBlocks = 30n
/** Below all that it remembers. */
const forkHeight = 20n

type Chain = Replayable & { name: string; proxy: RpcProxy }
type Halting = { ground: OwnGround; base: Chain; arbitrum: Chain; folder: string }

/** A change of history deeper than anything that is remembered: that network halts and alerts, and no other does. */
export const historyLost: Fault = {
  name: 'F11',
  title: 'a reorganisation beyond history halts that network and alerts',
  ground: 'own',
  async strike(world, random) {
    await using stack = new AsyncDisposableStack()
    const base = await startOld('base', 8453, stack)
    const arbitrum = await startOld('arbitrum', 42_161, stack)
    const reported = [base, arbitrum].map(({ name, anvil, token, proxy }) => {
      return { name, chainId: anvil.chainId, urls: [proxy.url], token: token.address }
    })
    const ground = await startOwnGround(world, reported, stack)
    const halting = { ground, base, arbitrum, folder: world.folder }
    for (const { name } of reported) await untilRead(ground, name, 0n)
    if (random.fraction() < 0.5) await answerAsAnother(halting, stack)
    await loseHistory(halting)
    await holdOwnBooks(ground, ...[base, arbitrum].map(watchedOf))
  },
}

const watchedOf = ({ name, anvil, token }: Chain) => ({
  network: name,
  rpcUrl: anvil.url,
  address: depositor,
  token: token.address,
})

async function startOld(name: string, chainId: number, stack: AsyncDisposableStack): Promise<Chain> {
  const chain = await startReplayable(chainId)
  const { anvil } = chain
  stack.defer(() => anvil.stop())
  await anvil.mine(Number(oldBlocks - (await anvil.client.getBlockNumber())))
  const proxy = await startRpcProxy(anvil.url)
  stack.defer(() => proxy.stop())
  return { ...chain, name, proxy }
}

let amount = 0n

async function pay({ anvil, token }: Chain): Promise<Hex> {
  const tx = await token.send(depositor, ++amount)
  await anvil.mine()
  return tx
}

async function makeFinal(ground: OwnGround, { name, anvil }: Chain): Promise<void> {
  await anvil.mine(3)
  await untilRead(ground, name, (await anvil.client.getBlockNumber()) - 2n)
}

const openHalts = async (ground: OwnGround): Promise<number> =>
  (await ground.rows(`select from mismatch where kind = 'history_lost' and cleared_at is null`)).length

const untilHalts = (ground: OwnGround, count: number) =>
  untilSame('networks that halt', () => openHalts(ground), count)

/** A node of another history halts the network, and once it is gone reading goes on by itself. */
async function answerAsAnother({ ground, base }: Halting, stack: AsyncDisposableStack): Promise<void> {
  const foreign = await startAnvil(base.anvil.chainId)
  stack.defer(() => foreign.stop())
  await foreign.mine(60)
  const cursor = await cursorOf(ground, 'base')
  base.proxy.behave(answersAs(foreign))
  await untilHalts(ground, 1)
  const meanwhile = await pay(base)
  mustBeSame('the cursor of what halts', await cursorOf(ground, 'base'), cursor)
  base.proxy.behave()
  await makeFinal(ground, base)
  await untilStateIs(ground, meanwhile, 'confirmed deposit')
  await untilHalts(ground, 0)
}

const answersAs =
  ({ client }: Anvil): Script =>
  async ({ method, params }) => ({ result: await client.request({ method, params } as never) })

async function loseHistory({ ground, base, arbitrum, folder }: Halting): Promise<void> {
  const [kept, gone] = [await pay(base), await pay(base)]
  await makeFinal(ground, base)
  await untilStateIs(ground, kept, 'confirmed deposit')
  await untilStateIs(ground, gone, 'confirmed deposit')
  const cursor = await cursorOf(ground, 'base')
  await replaceAbove(base.anvil, forkHeight, [[], [], await rawsUntil(base, kept)])
  await untilHalts(ground, 1)
  await base.anvil.mine(10)
  const elsewhere = await pay(arbitrum)
  await makeFinal(ground, arbitrum)
  await untilStateIs(ground, elsewhere, 'confirmed deposit')
  mustBeSame('the cursor of what halts', await cursorOf(ground, 'base'), cursor)
  mustBeSame('what is booked of what is gone', await statesOf(ground, gone), ['confirmed deposit'])
  const alerts = 'depositd_mismatches_open{kind="history_lost",severity="severe",service="",network="base"} 1'
  const isReported = async () => (await shownBy(ground, '/metrics')).includes(alerts)
  await untilSame('it is told in the metrics', isReported, true)
  await readOn(ground, folder)
  await makeFinal(ground, base)
  await untilSame('what is booked of what is gone', () => statesOf(ground, gone, true), [
    'orphaned deposit reversal',
  ])
  await untilStateIs(ground, kept, 'confirmed deposit')
  await untilHalts(ground, 0)
}

/** Of the whole history above the fork, up to that transaction, as they were sent. */
async function rawsUntil({ anvil }: Chain, last: Hex): Promise<Hex[]> {
  const { blockNumber } = await anvil.client.getTransactionReceipt({ hash: last })
  const raws: Hex[] = []
  for (let height = forkHeight + 1n; height <= blockNumber; height++) {
    const { transactions } = await anvil.client.getBlock({ blockNumber: height })
    for (const hash of transactions) raws.push(await rawOf(anvil, hash))
  }
  return raws
}

/** What the halted network's own advice says, by a person who has looked at the chain. */
async function readOn({ rows, environment }: OwnGround, folder: string): Promise<void> {
  const [halt] = await rows<{ fix: string }>(
    `select detail ->> 'fix' as fix from mismatch where kind = 'history_lost' and cleared_at is null`,
  )
  const words = /depositd (backfill --network base --from )HEIGHT/.exec(halt?.fix ?? '')?.[1]
  if (words === undefined) throw new Error(`the halt names no way out: ${halt?.fix}`)
  const advised = [...words.trim().split(' '), String(forkHeight + 1n)]
  const command = spawnProgram(folder, advised, environment)
  mustBeSame(`the end of depositd ${advised.join(' ')}`, await command.ended, 0)
}

const shownBy = async ({ worker }: OwnGround, path: string): Promise<string> =>
  (await fetch(`${worker().opsUrl}${path}`)).text()
