import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import type { Logger } from 'pino'
import { createPublicClient, hexToBytes, http } from 'viem'
import type { NetworkName } from '../core/asset.ts'
import { Fault, messageOf } from '../core/errors.ts'
import { logEvent } from '../log/log-event.ts'
import { type EvmClient, openEvmClient } from './evm-faucet.ts'
import { loopback, onFreePort } from './free-port.ts'
import { type Child, endLeftover, hasLeftover, lastOutput, startChild } from './processes.ts'

export type AnvilSettings = {
  name: NetworkName
  chainId: number
  folder: string
  /** If absent or in use, a free port is chosen. */
  port?: number
  /** While transactions wait or are not final yet. */
  blockMs?: number
  /** Time of the first block of a new chain; now by default. */
  startAt?: Date
  log: Logger
}

export type AnvilNode = {
  name: NetworkName
  url: string
  pid: number
  client: EvmClient
  stop(): Promise<void>
}

const programName = 'anvil'
const urlFile = 'anvil.url'
const startWithinMs = 20_000
const retryEveryMs = 20
const blockMsByDefault = 1000

/**
 * Continues the chain of the folder, and finds a node that outlived its process. Only if both were killed, the blocks
 * since the last save are lost.
 * @throws Fault `remote_failed`
 */
export async function startAnvil(settings: AnvilSettings): Promise<AnvilNode> {
  const { name, chainId, folder, log, blockMs = blockMsByDefault } = settings
  const file = chainFile(folder)
  await rescueChain(settings, file)
  const { url, child } = await onFreePort(settings.port, (port) => startNode(settings, file, port))
  const client = openEvmClient(url, chainId)
  return { name, url, pid: child.pid, client, ...(await keepMining({ client, file, child, blockMs, log })) }
}

async function startNode(
  settings: AnvilSettings,
  file: ChainFile,
  port: number,
): Promise<{ url: string; child: Child }> {
  const { chainId, folder, log } = settings
  const url = `http://${loopback}:${port}`
  const child = await startChild({
    name: programName,
    folder,
    command: findAnvil(),
    args: [...nodeOptions(port, chainId), ...startTime(settings), ...file.loadOptions()],
    // The sandbox saves the chain itself, so ending the node loses nothing.
    stopSignal: 'SIGTERM',
    user: null,
    env: { HOME: folder },
    log,
  })
  writeFileSync(join(folder, urlFile), url)
  await untilReady(url, child, settings)
  return { url, child }
}

async function rescueChain({ folder, chainId, log }: AnvilSettings, file: ChainFile): Promise<void> {
  if (!hasLeftover(folder, programName)) return
  try {
    await file.save(openEvmClient(readFileSync(join(folder, urlFile), 'utf8'), chainId))
  } catch (error) {
    logEvent(log, 'leftover_not_saved', { err: error })
  }
  await endLeftover(folder, programName, log)
}

/** The child stops last: it holds the blocks that are still to be saved. */
async function keepMining(node: {
  client: EvmClient
  file: ChainFile
  child: Child
  blockMs: number
  log: Logger
}): Promise<Pick<AnvilNode, 'stop'>> {
  const { client, file, child, blockMs, log } = node
  const miner = await startMining({ client, blockMs, log, onBlock: () => file.saveIfDue(client) })
  const miningEnded = child.ended.then(() => miner.stop())
  return {
    async stop() {
      await miner.stop()
      await file.save(client).catch((error: unknown) => logEvent(log, 'chain_not_saved', { err: error }))
      await child.stop()
      await miningEnded
    },
  }
}

function nodeOptions(port: number, chainId: number): string[] {
  const options = {
    host: loopback,
    port,
    'chain-id': chainId,
    'slots-in-an-epoch': 1,
    order: 'fifo',
    // Blocks whose state can be queried; ignored when Anvil mines at an interval.
    'prune-history': 16,
    accounts: 10,
    balance: 1_000_000,
    threads: 1,
  }
  const valued = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)])
  return [...valued, '--no-mining', '--quiet', '--no-cors']
}

function startTime({ startAt }: AnvilSettings): string[] {
  return startAt === undefined ? [] : ['--timestamp', `${Math.floor(startAt.getTime() / 1000)}`]
}

/** The launcher around the platform's binary would stay in memory as a second process. */
function findAnvil(): string {
  const arch = process.arch === 'x64' ? 'amd64' : process.arch
  const system = process.platform === 'win32' ? 'win32' : process.platform
  try {
    const ours = createRequire(import.meta.url)
    const theirs = createRequire(ours.resolve('@foundry-rs/anvil/package.json'))
    const folder = join(theirs.resolve(`@foundry-rs/anvil-${system}-${arch}/package.json`), '..')
    return join(folder, 'bin', process.platform === 'win32' ? 'anvil.exe' : 'anvil')
  } catch (cause) {
    const problem = `no anvil is installed for ${system}-${arch}; run npm ci, or set RPC_* to nodes of your own`
    throw new Fault('remote_failed', { what: 'finding anvil', problem }, { cause })
  }
}

async function untilReady(
  url: string,
  child: Child,
  { name, chainId, folder }: AnvilSettings,
): Promise<void> {
  const outcome = await Promise.race([answers(url, chainId), endedEarly(child)])
  if (outcome === 'ready') return
  await child.stop()
  const problem = `${outcome}; ${lastOutput(folder, programName)}`
  throw new Fault('remote_failed', { what: `starting the chain of ${name}`, problem })
}

async function answers(url: string, chainId: number): Promise<string> {
  const client = createPublicClient({ transport: http(url, { retryCount: 0 }) })
  const deadline = Date.now() + startWithinMs
  for (;;) {
    try {
      const answered = await client.getChainId()
      return answered === chainId ? 'ready' : `chain ${answered} answers on its port`
    } catch (error) {
      if (Date.now() > deadline) return messageOf(error)
      await sleep(retryEveryMs)
    }
  }
}

async function endedEarly(child: Child): Promise<string> {
  return `it ended with ${await child.ended}`
}

type ChainFile = {
  loadOptions(): readonly string[]
  saveIfDue(client: EvmClient): Promise<void>
  save(client: EvmClient): Promise<void>
}

/** The time to save grows with the chain, so a long chain is saved less often. */
const pausePerSaving = 50
const pauseMinMs = 900

/** Anvil's own `--state` overwrites its file in place; a kill leaves half of it. */
function chainFile(folder: string): ChainFile {
  mkdirSync(folder, { recursive: true })
  const path = join(folder, 'chain.json.gz')
  let dueAt = 0
  const save = async (client: EvmClient): Promise<void> => {
    const startedAt = performance.now()
    try {
      const dump = await client.dumpState()
      writeFileSync(`${path}.new`, hexToBytes(dump))
      renameSync(`${path}.new`, path)
    } finally {
      const finishedAt = performance.now()
      dueAt = finishedAt + Math.max(pauseMinMs, (finishedAt - startedAt) * pausePerSaving)
    }
  }
  return {
    loadOptions: () => (existsSync(path) ? ['--load-state', unpack(folder, path)] : []),
    save,
    saveIfDue: async (client) => {
      if (performance.now() >= dueAt) await save(client)
    },
  }
}

function unpack(folder: string, path: string): string {
  const plain = join(folder, 'chain.json')
  writeFileSync(plain, gunzipSync(readFileSync(path)))
  return plain
}

type MinerSettings = {
  client: EvmClient
  blockMs: number
  log: Logger
  onBlock: () => Promise<void>
}

const blocksToFinal = 2
const idleBlockMs = 5000

/**
 * When nothing waits, blocks come only now and then: one a second fills memory and disk overnight. The first
 * come at once, because until then a loaded node only knows the state of its head.
 */
async function startMining(settings: MinerSettings): Promise<{ stop(): Promise<void> }> {
  await settings.client.mine({ blocks: blocksToFinal })
  const stopping = new AbortController()
  const mining = mineUntil(stopping.signal, settings)
  return {
    async stop() {
      stopping.abort()
      await mining
    },
  }
}

async function mineUntil(stopping: AbortSignal, settings: MinerSettings): Promise<void> {
  let minedAt = performance.now()
  while (await waited(settings.blockMs, stopping)) {
    try {
      const isIdle = performance.now() - minedAt < idleBlockMs && !(await isBusy(settings.client))
      if (isIdle) continue
      await settings.client.mine({ blocks: 1 })
      minedAt = performance.now()
      await settings.onBlock()
    } catch (error) {
      if (!stopping.aborted) logEvent(settings.log, 'block_not_made', { err: error })
    }
  }
}

async function isBusy(client: EvmClient): Promise<boolean> {
  const { pending } = await client.getTxpoolStatus()
  if (pending > 0) return true
  const head = await client.getBlock()
  if (head.transactions.length > 0 || head.number === 0n) return head.transactions.length > 0
  const parent = await client.getBlock({ blockNumber: head.number - 1n })
  return parent.transactions.length > 0
}

/** @returns false if the stop ended the wait */
async function waited(milliseconds: number, stopping: AbortSignal): Promise<boolean> {
  try {
    await sleep(milliseconds, undefined, { signal: stopping })
    return true
  } catch {
    return false
  }
}
