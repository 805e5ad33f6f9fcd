import { z } from 'zod'
import type { SolanaChain } from './chain.ts'
import type { LamportFaucet } from './faucet.ts'
import { invalidParams, RpcError, rpcCodes } from './json-rpc.ts'
import {
  addressParameter,
  contextConfig,
  decodeBytes,
  encodingParameter,
  type Methods,
  readParameters,
  withContext,
} from './parameters.ts'
import { type ExecutionOutcome, parseTransaction, type WireTransaction } from './runtime.ts'

const wireBytesMax = 4096
const sendConfig = contextConfig.extend({
  // The interface's oldest encoding is still its default.
  encoding: encodingParameter.default('base58'),
  skipPreflight: z.boolean().default(false),
})
const simulateConfig = contextConfig.extend({
  encoding: encodingParameter.default('base58'),
  sigVerify: z.boolean().default(false),
  replaceRecentBlockhash: z.boolean().default(false),
})
const lamportsParameter = z.union([z.int().min(1).transform(BigInt), z.bigint().min(1n)])

const schemas = {
  send: z.tuple([z.string(), sendConfig.prefault({})]),
  simulate: z.tuple([z.string(), simulateConfig.prefault({})]),
  airdrop: z.tuple([addressParameter, lamportsParameter, contextConfig.prefault({})]),
}

export function submitMethods(chain: SolanaChain, faucet: LamportFaucet): Methods {
  return {
    sendTransaction(parameters) {
      const [text, config] = readParameters(schemas.send, parameters)
      return send(chain, decodeWire(text, config.encoding), config.skipPreflight)
    },
    simulateTransaction(parameters) {
      const [text, config] = readParameters(schemas.simulate, parameters)
      const wire = parseTransaction(decodeWire(text, config.encoding))
      const refused = config.replaceRecentBlockhash ? null : refusal(chain, wire)
      const outcome = refused ?? chain.simulate(wire, config.sigVerify)
      return withContext(chain.slots.at(config.commitment), simulated(outcome))
    },
    async requestAirdrop(parameters) {
      const [address, amount] = readParameters(schemas.airdrop, parameters)
      return send(chain, await faucet.transfer(address, amount), false)
    },
  }
}

function decodeWire(text: string, encoding: 'base58' | 'base64'): Uint8Array {
  const bytes = decodeBytes(text, encoding)
  if (bytes.length > wireBytesMax) throw invalidParams(`the transaction is too large: ${bytes.length} bytes`)
  return bytes
}

/** @returns the signature even if the transaction was dropped, as a real node does */
function send(chain: SolanaChain, bytes: Uint8Array, skipPreflight: boolean): string {
  const wire = parseTransaction(bytes)
  const [signature = ''] = wire.signatures
  requireSignatures(wire)
  const refused = refusal(chain, wire)
  if (!skipPreflight) requirePreflight(refused ?? chain.simulate(wire, true))
  if (refused === null) chain.execute(wire, bytes)
  return signature
}

function requireSignatures({ transaction }: WireTransaction): void {
  const isSigned = Object.values(transaction.signatures).every((signature) => signature !== null)
  if (!isSigned) throw signatureFailure()
}

/** Null if the transaction may run. */
function refusal(chain: SolanaChain, { message, signatures }: WireTransaction): ExecutionOutcome | null {
  const nothing = { logs: [], unitsConsumed: 0n, inner: [] }
  if (chain.history.find(signatures[0] ?? '') !== null) return { ...nothing, error: 'AlreadyProcessed' }
  const usable = chain.slots.usableSlotOf(message.lifetimeToken) !== null
  return usable ? null : { ...nothing, error: 'BlockhashNotFound' }
}

function requirePreflight(outcome: ExecutionOutcome): void {
  if (outcome.error === null) return
  if (outcome.error === 'SignatureFailure') throw signatureFailure()
  const problem = `Transaction simulation failed: ${inWords(outcome.error)}`
  throw new RpcError(rpcCodes.preflightFailure, problem, simulated(outcome))
}

function signatureFailure(): RpcError {
  return new RpcError(rpcCodes.signatureVerificationFailure, 'Transaction signature verification failure')
}

function simulated({ error, logs, unitsConsumed }: ExecutionOutcome) {
  return { err: error, logs, accounts: null, unitsConsumed, returnData: null, innerInstructions: null }
}

function inWords(error: NonNullable<ExecutionOutcome['error']>): string {
  if (error === 'BlockhashNotFound') return 'Blockhash not found'
  if (error === 'AlreadyProcessed') return 'This transaction has already been processed'
  return typeof error === 'string' ? error : JSON.stringify(error)
}
