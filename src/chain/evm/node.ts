import type { EIP1193RequestFn, EIP1474Methods } from 'viem'
import type { Address, AssetKey, NetworkName, NetworkReading } from '../../core/asset.ts'
import { Fault, isFault, messageOf, shorten } from '../../core/errors.ts'
import { type Codec, ConnectionProblem, HttpProblem, JsonRpcClient, StatedError } from '../json-rpc.ts'
import {
  defaultReading,
  type NodeConnection,
  pooledNode,
  type ReaderBounds,
  watchedAssets,
} from '../options.ts'
import { PauseRequested } from '../pace.ts'
import { type PooledNode, refusal } from '../pool.ts'
import type { RequestFailure } from '../refusals.ts'
import type { NetworkSettings, OddLogObserver } from '../types.ts'
import { type LogMemory, newLogMemory } from './log-cost.ts'

export type EvmRequest = EIP1193RequestFn<EIP1474Methods>

export type EvmNode = PooledNode & {
  readonly request: EvmRequest
  /** One batch per turn of the event loop, if the server accepts batches. */
  readonly requestInBatch: EvmRequest
  readonly logs: LogMemory
  readonly observeOddLog: OddLogObserver
}

export function openNode(connection: NodeConnection): EvmNode {
  const client = new JsonRpcClient(connection, plainJson)
  return {
    ...pooledNode(connection),
    request: requestBy((payload) => client.ask(payload)),
    requestInBatch: requestBy((payload) => client.askInBatch(payload)),
    logs: newLogMemory(),
    observeOddLog: connection.observeOddLog,
  }
}

const plainJson: Codec = { encode: JSON.stringify, decode: JSON.parse }

function requestBy(send: JsonRpcClient['ask']): EvmRequest {
  let requests = 0
  const request = async ({ method, params }: { method: string; params?: unknown }): Promise<unknown> => {
    const answer = await send({
      jsonrpc: '2.0',
      id: ++requests,
      method,
      ...(params === undefined ? {} : { params }),
    })
    if (answer.error !== undefined) throw new StatedError(answer.error)
    return answer.result
  }
  return request as EvmRequest
}

/** @throws Fault `remote_failed` that names the node and the call */
export async function ask<Result>(
  node: EvmNode,
  what: string,
  call: (request: EvmRequest) => Promise<Result>,
): Promise<Result> {
  try {
    return await call(node.request)
  } catch (error) {
    throw isFault(error, 'remote_failed') ? error : refusal(node, what, problemOf(error))
  }
}

/** @throws as `ask` */
export function askInBatch<Result>(
  node: EvmNode,
  what: string,
  call: (request: EvmRequest) => Promise<Result>,
): Promise<Result> {
  return ask({ ...node, request: node.requestInBatch }, what, call)
}

/** Server messages have any length. */
const problemMax = 2000

function problemOf(error: unknown): string {
  const problem = shorten(messageOf(error), problemMax)
  return error instanceof StatedError ? `${problem} (code ${error.code})` : problem
}

export function failureOf(error: unknown): RequestFailure {
  const isStated = error instanceof StatedError
  return {
    problem: problemOf(error),
    code: isStated ? error.code : null,
    status: isStated || error instanceof HttpProblem ? error.status : null,
    isAway: error instanceof ConnectionProblem || error instanceof PauseRequested,
  }
}

export type EvmWatch = {
  network: NetworkName
  contracts: ReadonlyMap<Address, AssetKey>
  /** Null if it is not among the assets. */
  native: AssetKey | null
  recipients: ReadonlySet<Address>
  finality: Finality
  /** For payments by contracts. */
  traced: boolean
}

export type EvmScan = { node: EvmNode; watch: EvmWatch; bounds: ReaderBounds }

/** @throws Fault `settings_bad` if the EIP-7708 address of the native coin is configured as a token */
export function watchOf(settings: NetworkSettings, recipients: ReadonlySet<Address>): EvmWatch {
  const { tokens, native } = watchedAssets(settings)
  if (tokens.has(coinEmitter)) {
    const problem = 'is the address that logs movements of the native coin (EIP-7708), not a token'
    const fault = `networks: ${settings.name}: assets: ${coinEmitter} ${problem}`
    throw new Fault('settings_bad', { faults: [fault] })
  }
  const { finality, traces } = settings.reading ?? defaultReading
  const traced = traces === 'always'
  return { network: settings.name, contracts: tokens, native, recipients, finality, traced }
}

/** EIP-7708: writes a Transfer log for each movement of the native coin, never of a token. */
export const coinEmitter = '0xfffffffffffffffffffffffffffffffffffffffe' as Address

export type Finality = NetworkReading['finality']
