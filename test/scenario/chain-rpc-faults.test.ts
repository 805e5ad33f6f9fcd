import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generateKeyPairSigner } from '@solana/kit'
import { sql } from 'kysely'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { defaultBounds } from '../../src/chain/options.ts'
import { startSolana } from '../../src/sandbox/solana/node.ts'
import type { WatchedOnSolana } from '../oracle/solana-chain.ts'
import { type Anvil, startAnvil } from '../support/anvil.ts'
import { type DaemonOnAnvil, failedScans, startDaemonOnAnvil, untilRead } from '../support/daemon-on-anvil.ts'
import { holdInvariants } from '../support/hold-invariants.ts'
import { isSeveral, type RawNode, type RawScript, startRawNode } from '../support/raw-node.ts'
import { depositor } from '../support/reported-networks.ts'
import { answersInPart, bodyBytes, passesOn, rpcFaults } from '../support/rpc-faults.ts'
import { openWallet, type SolanaWallet } from '../support/solana-wallet.ts'
import { deployToken, type TestToken } from '../support/test-token.ts'
import { until } from '../support/until.ts'

const secret = 'v3-secret-key'
/** Beside the largest body that is read: what waits in sockets, on both sides. */
const buffersBytes = 16 * 1024 * 1024

/** Of all answers that are read at once, from both nodes. */
const heldMost = 2 * defaultBounds.requestsAtOnce * defaultBounds.bodyBytesMax

type Round = Record<'base' | 'solana', (typeof rpcFaults)[number]>

/**
 * One of each kind that the client of a node treats differently, on one of the chains, since both have that client. The others
 * are in test/chain/json-rpc.test.ts; `ALL=1 npm test -- test/scenario/chain-rpc-faults` has each on both.
 */
const rounds: Round[] =
  process.env.ALL === undefined
    ? [
        { base: faultThat('never answers'), solana: faultThat('asks to slow down by its status') },
        { base: faultThat('sends 500 MB in little'), solana: faultThat('is cut off within its answer') },
        { base: faultThat('is cut off within its answer'), solana: faultThat('sends 500 MB') },
      ]
    : rpcFaults.map((fault) => ({ base: fault, solana: fault }))

function faultThat(wanted: string): Round['base'] {
  const found = rpcFaults.find(({ name }) => name === wanted)
  if (found === undefined) throw new Error(`no fault ${wanted}`)
  return found
}

/** What a server before a node has seen of its answers. */
type Served = { ended: number; open: number; openMost: number; bytesMost: number }
/** A chain that is asked directly, and the server before it, which is the only one that the daemon is told of. */
type Front = { network: 'base' | 'solana'; url: string; proxy: RawNode; served: Served }

const stack = new AsyncDisposableStack()
let anvil: Anvil
let token: TestToken
let wallet: SolanaWallet
let fronts: { base: Front; solana: Front }
let world: DaemonOnAnvil
let onSolana: WatchedOnSolana
let payTokens: () => Promise<string>
let amount = 0n

beforeAll(async () => {
  anvil = await startAnvil()
  stack.defer(() => anvil.stop())
  token = await deployToken(anvil, 'USDC')
  await anvil.mine(3)
  const url = await startLocalSolana()
  wallet = await openWallet(url)
  const owner = await generateKeyPairSigner()
  const account = await wallet.createAssociatedAccount(owner.address)
  payTokens = () => wallet.payTokens(account, amount)
  fronts = { base: await startFront('base', anvil.url), solana: await startFront('solana', url) }
  const base = { name: 'base', chainId: anvil.chainId, urls: urls(fronts.base), token: token.address }
  const solana = { name: 'solana', chainId: null, urls: urls(fronts.solana), token: wallet.mint }
  world = await startDaemonOnAnvil(
    [
      { ...base, more: { startHeight: 0 } },
      { ...solana, address: owner.address },
    ],
    stack,
  )
  const { height } = await until('Solana is read', () => world.cursor('solana'))
  onSolana = {
    network: 'solana',
    rpcUrl: url,
    address: owner.address,
    mint: wallet.mint,
    from: height,
  }
})
afterAll(() => stack.disposeAsync())

const urls = ({ proxy }: Front) => [`${proxy.url}/${secret}`]

async function startLocalSolana(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'depositd-faults-'))
  stack.defer(() => rm(folder, { recursive: true }))
  const node = await startSolana({ folder, slotMs: 200, finalizedLag: 4, log: pino({ level: 'silent' }) })
  stack.defer(() => node.stop())
  return node.url
}

async function startFront(network: Front['network'], url: string): Promise<Front> {
  const proxy = await startRawNode()
  stack.defer(() => proxy.stop())
  const front = { network, url, proxy, served: nothingServed() }
  proxy.behave(passesOn(url))
  return front
}

const nothingServed = (): Served => ({ ended: 0, open: 0, openMost: 0, bytesMost: 0 })

/** Answers so from now on, and counts the answers anew. */
function behave(front: Front, script: RawScript): void {
  const served = nothingServed()
  front.served = served
  front.proxy.behave((response, asked) => {
    const { socket } = response
    const before = socket?.bytesWritten ?? 0
    served.open++
    served.openMost = Math.max(served.openMost, served.open)
    response.once('close', () => {
      served.open--
      served.ended++
      served.bytesMost = Math.max(served.bytesMost, (socket?.bytesWritten ?? 0) - before)
    })
    script(response, asked)
  })
}

function both(script: (url: string) => RawScript): void {
  for (const front of Object.values(fronts)) behave(front, script(front.url))
}

/** A payment on each chain, and the heights by which they are final there. */
async function pay(): Promise<{ txs: string[]; base: bigint; solana: bigint }> {
  amount += 1n
  const txs = [await token.send(depositor, amount), await payTokens()]
  await anvil.mine(4)
  await until('finality', () => wallet.isFinal(txs[1] ?? ''))
  const base = (await anvil.client.getTransactionReceipt({ hash: txs[0] as `0x${string}` })).blockNumber
  return { txs, base, solana: await slotOf(txs[1] ?? '') }
}

async function slotOf(signature: string): Promise<bigint> {
  const params = [signature, { commitment: 'finalized', maxSupportedTransactionVersion: 0 }]
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getTransaction', params })
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(fronts.solana.url, { method: 'POST', headers, body })
  return BigInt(((await answer.json()) as { result: { slot: number } }).result.slot)
}

async function booked(txs: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ kind: string }>`
    select kind from ledger_journal where split_part(transfer, '/', 2) = any(${txs}) order by id`.execute(
    world.db,
  )
  return rows.map(({ kind }) => kind)
}

async function untilBooked(txs: readonly string[]): Promise<void> {
  const areBooked = async () => ((await booked(txs)).length === txs.length ? true : null)
  await until('what was paid is booked', areBooked)
}

/** The most memory outside of the heap that is held beyond what is held now, until it is disposed of. */
function watchMemory(): Disposable & { most: number } {
  const before = process.memoryUsage().arrayBuffers
  const watch = { most: 0, [Symbol.dispose]: () => clearInterval(timer) }
  const timer = setInterval(() => {
    watch.most = Math.max(watch.most, process.memoryUsage().arrayBuffers - before)
  }, 20)
  return watch
}

/** Nobody waits for ever, and nobody reads more at once than is known beforehand. */
function expectBounded({ served }: Front): void {
  expect(served.openMost).toBeLessThanOrEqual(defaultBounds.requestsAtOnce)
  expect(served.bytesMost).toBeLessThan(defaultBounds.bodyBytesMax + buffersBytes)
  expect(served.bytesMost).toBeLessThan(bodyBytes)
}

test('several calls of which some are not answered are asked for again, one by one', async () => {
  both(answersInPart)
  const early = [await pay(), await pay(), await pay()]
  await untilBooked(early.flatMap(({ txs }) => txs))
  // Every 64 blocks the logs before are read again, and with them several blocks at once.
  await anvil.mine(64)
  await until('several are asked for at once', () => fronts.base.proxy.asked.some(isSeveral) || null)
  const late = await pay()
  await untilBooked(late.txs)
})

test.each(rounds.map((round) => ({ round, base: round.base.name, solana: round.solana.name })))(
  'nodes of Base that $base, and of Solana that $solana, move nothing, and are read on when they are well',
  async ({ round }) => {
    const failedBefore = await failedScans(world)
    using memory = watchMemory()
    for (const front of Object.values(fronts)) behave(front, round[front.network].script(front.url))
    const paid = await pay()
    for (const front of Object.values(fronts)) {
      const { ended } = front.served
      const least = round[front.network].hangs === true ? 1 : 3
      await until(`${front.network} was asked in vain`, () =>
        front.served.ended >= ended + least ? true : null,
      )
      const reached = (await world.cursor(front.network))?.height ?? -1n
      expect(reached).toBeLessThan(paid[front.network])
      expectBounded(front)
    }
    await until('both scans failed', async () =>
      (await failedScans(world)) >= failedBefore + 2 ? true : null,
    )
    expect(await booked(paid.txs)).toEqual([])
    expect(memory.most).toBeLessThan(heldMost)
    both(passesOn)
    await untilBooked(paid.txs)
  },
)

test('the books hold what was paid, each payment once, and every height was read', async () => {
  await untilRead(world, 'base', (await anvil.client.getBlockNumber()) - 2n)
  await world.daemon.stop()
  await holdInvariants(
    world,
    { network: 'base', rpcUrl: anvil.url, address: depositor, token: token.address },
    onSolana,
  )
  const { rows } = await sql<{ count: bigint }>`select count(*) from ledger_journal`.execute(world.db)
  expect(rows).toEqual([{ count: amount * 2n }])
  // A failed run is logged with the node, and without the rest of its URL.
  for (const { network, proxy } of Object.values(fronts)) {
    expect(world.logged.join()).toContain(`${network} node ${new URL(proxy.url).host}`)
  }
  expect(world.logged.filter((line) => line.includes(secret))).toEqual([])
})
