import { getBase58Encoder, getBase64Encoder, isAddress } from '@solana/kit'
import { z } from 'zod'
import type { SolanaChain } from './chain.ts'
import { invalidParams, RpcError, rpcCodes } from './json-rpc.ts'
import type { Commitment } from './slots.ts'

type Method = (parameters: readonly unknown[]) => unknown

export type Methods = Readonly<Record<string, Method>>

/** @throws RpcError -32602 that names the parameter */
export function readParameters<Schema extends z.ZodType>(
  schema: Schema,
  parameters: readonly unknown[],
): z.output<Schema> {
  const { success, data, error } = schema.safeParse(parameters)
  if (success) return data
  throw invalidParams(error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '))
}

export const addressParameter = z.string().refine(isAddress, 'is not an address')

export const slotParameter = z.int().min(0)

const commitment = z.enum(['processed', 'confirmed', 'finalized']).default('finalized')

export const contextConfig = z.looseObject({ commitment, minContextSlot: slotParameter.optional() })

export type ContextConfig = z.output<typeof contextConfig>

/** @throws RpcError -32016 if the caller requires a later slot */
export function contextSlot({ slots }: SolanaChain, config: ContextConfig): number {
  const slot = slots.at(config.commitment)
  if (config.minContextSlot === undefined || slot >= config.minContextSlot) return slot
  throw new RpcError(rpcCodes.minContextSlotNotReached, 'Minimum context slot has not been reached', {
    contextSlot: slot,
  })
}

export function withContext<Value>(slot: number, value: Value) {
  return { context: { apiVersion: nodeVersion, slot }, value }
}

/** The release whose responses this node copies. */
export const nodeVersion = '3.0.0'

/** @throws RpcError -32602 for `processed`: before confirmation the result would be a guess */
export function requireConfirmed(wanted: Commitment): void {
  if (wanted === 'processed') {
    throw new RpcError(rpcCodes.invalidParams, 'Method does not support commitment below `confirmed`')
  }
}

export const encodingParameter = z.enum(['base58', 'base64'])

/** @throws RpcError -32602 */
export function decodeBytes(text: string, encoding: 'base58' | 'base64'): Uint8Array {
  try {
    const encoder = encoding === 'base58' ? getBase58Encoder() : getBase64Encoder()
    return Uint8Array.from(encoder.encode(text))
  } catch {
    throw invalidParams(`invalid ${encoding} encoding`)
  }
}
