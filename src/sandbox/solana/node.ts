import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import type { Address } from '@solana/kit'
import type { Logger } from 'pino'
import { z } from 'zod'
import { messageOf } from '../../core/errors.ts'
import { logEvent } from '../../log/log-event.ts'
import { loopback, onFreePort } from '../free-port.ts'
import { sandboxSigner } from '../solana-faucet.ts'
import { accountMethods } from './account-methods.ts'
import { openChain, type SolanaChain } from './chain.ts'
import { createFaucet } from './faucet.ts'
import { historyMethods } from './history-methods.ts'
import { parseExactly, RpcError, rpcCodes, stringifyExactly } from './json-rpc.ts'
import {
  contextConfig,
  contextSlot,
  type Methods,
  nodeVersion,
  readParameters,
  slotParameter,
  withContext,
} from './parameters.ts'
import { blockhashLifetimeSlots, createSlots, type SlotSettings } from './slots.ts'
import { submitMethods } from './submit-methods.ts'

export type SolanaSettings = {
  folder: string
  port?: number
  /** Of a new chain; an existing one keeps its own. */
  slotMs?: number
  /** Slots that `confirmed` and `finalized` are behind the newest. */
  confirmedLag?: number
  finalizedLag?: number
  genesis?: ReadonlyMap<Address, bigint>
  log: Logger
}

export type SandboxSolanaNode = { url: string; stop(): Promise<void> }

const faucetLamports = 500_000_000n * 1_000_000_000n
/** Lets a caller look back some slots on a new chain. */
const slotsBeforeStart = 1000

/** Every result is on disk before it is returned. */
export async function startSolana(settings: SolanaSettings): Promise<SandboxSolanaNode> {
  const { folder, log, confirmedLag = 1, finalizedLag = 4, slotMs = 400 } = settings
  mkdirSync(folder, { recursive: true })
  const slots = createSlots({
    ...readGenesis(join(folder, 'genesis.json'), slotMs),
    confirmedLag,
    finalizedLag,
  })
  const faucet = await sandboxSigner('faucet')
  const balances = new Map([...(settings.genesis ?? []), [faucet.address, faucetLamports] as const])
  const chain = openChain({ path: join(folder, 'transactions.jsonl'), slots, genesis: toAccounts(balances) })
  const methods = {
    ...clusterMethods(chain),
    ...accountMethods(chain),
    ...historyMethods(chain),
    ...submitMethods(chain, createFaucet(faucet, slots)),
  }
  const server = await onFreePort(settings.port, (port) => serveRpc(methods, port, log))
  return {
    url: server.url,
    async stop() {
      await server.stop()
      chain.history.close()
    },
  }
}

type Genesis = Pick<SlotSettings, 'genesisMs' | 'slotMs'>

function readGenesis(path: string, slotMs: number): Genesis {
  if (!existsSync(path)) {
    const genesis: Genesis = { genesisMs: Date.now() - slotsBeforeStart * slotMs, slotMs }
    writeFileSync(`${path}.new`, JSON.stringify(genesis))
    renameSync(`${path}.new`, path)
  }
  return JSON.parse(readFileSync(path, 'utf8')) as Genesis
}

const systemProgram = '11111111111111111111111111111111' as Address

function toAccounts(balances: ReadonlyMap<Address, bigint>) {
  const empty = { owner: systemProgram, data: new Uint8Array(), executable: false }
  return new Map([...balances].map(([address, lamports]) => [address, { ...empty, lamports }]))
}

const config = z.tuple([contextConfig.prefault({})])
const configAfter = <First extends z.ZodType>(first: First) => z.tuple([first, contextConfig.prefault({})])

/** The first epoch outlasts any local chain, so a change that waits for an epoch applies at once or never. */
const slotsInEpoch = 2 ** 40

/** Every slot has a block, so heights are slots. */
function clusterMethods(chain: SolanaChain): Methods {
  const { slots, runtime } = chain
  const slotOf = (parameters: readonly unknown[]): number =>
    contextSlot(chain, readParameters(config, parameters)[0])
  return {
    getHealth: () => 'ok',
    getVersion: () => ({ 'solana-core': nodeVersion, 'feature-set': 0 }),
    getGenesisHash: () => slots.blockhashOf(0),
    getFirstAvailableBlock: () => 0,
    getSlot: slotOf,
    getBlockHeight: slotOf,
    getEpochInfo(parameters) {
      const slot = slotOf(parameters)
      return { epoch: 0, absoluteSlot: slot, slotIndex: slot, blockHeight: slot, slotsInEpoch }
    },
    getLatestBlockhash(parameters) {
      const slot = slotOf(parameters)
      const lastValidBlockHeight = slot + blockhashLifetimeSlots
      return withContext(slot, { blockhash: slots.blockhashOf(slot), lastValidBlockHeight })
    },
    isBlockhashValid(parameters) {
      const [hash, wanted] = readParameters(configAfter(z.string()), parameters)
      const slot = contextSlot(chain, wanted)
      const usable = slots.usableSlotOf(hash)
      return withContext(slot, usable !== null && usable <= slot)
    },
    getMinimumBalanceForRentExemption(parameters) {
      const [bytes] = readParameters(configAfter(slotParameter), parameters)
      return runtime.rentFor(bytes)
    },
  }
}

type RpcServer = { url: string; stop(): Promise<void> }

const bodyBytesMax = 1_000_000
const batchMax = 100

const callSchema = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.number(), z.null()]).default(null),
  method: z.string(),
  params: z.array(z.unknown()).default([]),
})

async function serveRpc(methods: Methods, port: number, log: Logger): Promise<RpcServer> {
  const server = createServer((request, response) => {
    answerRequest(methods, request, response).catch((error: unknown) => {
      logEvent(log, 'local_request_broken', { err: error })
      response.destroy()
    })
  })
  server.listen(port, loopback)
  await once(server, 'listening')
  return {
    url: `http://${loopback}:${port}`,
    async stop() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

async function answerRequest(
  methods: Methods,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method === 'GET' && request.url === '/health') return reply(response, 200, 'ok')
  if (request.method !== 'POST') return reply(response, 405, 'Used HTTP Method is not allowed.')
  const body = await readBody(request)
  if (body === null) return reply(response, 413, 'Payload too large')
  response.setHeader('content-type', 'application/json')
  reply(response, 200, stringifyExactly(await answerBody(methods, body)))
}

function reply(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-length': Buffer.byteLength(text) }).end(text)
}

async function readBody(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > bodyBytesMax) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

async function answerBody(methods: Methods, body: string): Promise<unknown> {
  let calls: unknown
  try {
    calls = parseExactly(body)
  } catch {
    return failure(null, new RpcError(rpcCodes.parseError, 'Parse error'))
  }
  if (!Array.isArray(calls)) return answerCall(methods, calls)
  if (calls.length > batchMax)
    return failure(null, new RpcError(rpcCodes.invalidRequest, 'Batch is too large'))
  return Promise.all(calls.map((call) => answerCall(methods, call)))
}

async function answerCall(methods: Methods, call: unknown): Promise<unknown> {
  const parsed = callSchema.safeParse(call)
  if (!parsed.success) return failure(null, new RpcError(rpcCodes.invalidRequest, 'Invalid request'))
  const { id, method: name, params } = parsed.data
  try {
    const method = Object.hasOwn(methods, name) ? methods[name] : undefined
    if (method === undefined) throw new RpcError(rpcCodes.methodNotFound, 'Method not found')
    return { jsonrpc: '2.0', result: await method(params), id }
  } catch (error) {
    return failure(id, error)
  }
}

function failure(id: string | number | null, error: unknown) {
  const { code, message, data } =
    error instanceof RpcError
      ? error
      : { code: rpcCodes.internalError, message: messageOf(error), data: undefined }
  return { jsonrpc: '2.0', error: { code, message, data }, id }
}
