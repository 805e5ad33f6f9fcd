import {
  type AccountMeta,
  type Address,
  getAccountMetasFromCompiledTransactionMessage,
  getBase58Decoder,
  getBase58Encoder,
  getBase64Encoder,
  getInstructionsFromCompiledTransactionMessage,
  isSignerRole,
  isWritableRole,
} from '@solana/kit'
import { TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import { z } from 'zod'
import type { StoredTransaction } from './history.ts'
import { RpcError, rpcCodes } from './json-rpc.ts'
import type { RawInstruction } from './record.ts'
import { parseTransaction, type WireTransaction } from './runtime.ts'
import { isTokenProgram, toUiAmount } from './token-state.ts'

export const transactionConfig = z.looseObject({
  encoding: z.enum(['json', 'jsonParsed', 'base58', 'base64']).default('json'),
  maxSupportedTransactionVersion: z.int().min(0).optional(),
})

export type TransactionConfig = z.output<typeof transactionConfig>

/** @throws RpcError -32015 if the caller does not support transactions of this version */
export function encodeTransaction(stored: StoredTransaction, config: TransactionConfig) {
  const wire = readWire(stored, config)
  return {
    meta: config.encoding === 'jsonParsed' ? describedMeta(stored, wire) : stored.meta,
    transaction: encodeWire(stored, wire, config.encoding),
    ...versionOf(wire, config),
  }
}

/**
 * The detail `accounts` of blocks.
 * @throws RpcError -32015 if the caller does not support transactions of this version
 */
export function listAccounts(stored: StoredTransaction, config: TransactionConfig) {
  const wire = readWire(stored, config)
  const { err, status, fee, preBalances, postBalances, preTokenBalances, postTokenBalances } = stored.meta
  return {
    meta: { err, status, fee, preBalances, postBalances, preTokenBalances, postTokenBalances },
    transaction: { accountKeys: describedAccounts(wire), signatures: wire.signatures },
    ...versionOf(wire, config),
  }
}

function readWire(stored: StoredTransaction, config: TransactionConfig): WireTransaction {
  const wire = parseTransaction(Uint8Array.from(getBase64Encoder().encode(stored.wire)))
  requireVersion(wire.message.version, config.maxSupportedTransactionVersion)
  return wire
}

function versionOf({ message }: WireTransaction, config: TransactionConfig) {
  return config.maxSupportedTransactionVersion === undefined ? {} : { version: message.version }
}

function requireVersion(version: 'legacy' | number, supportedMax: number | undefined): void {
  if (version === 'legacy' || version <= (supportedMax ?? -1)) return
  throw new RpcError(
    rpcCodes.unsupportedTransactionVersion,
    `Transaction version (${version}) is not supported by the requesting client. Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": ${version}`,
  )
}

function encodeWire(
  { wire: base64 }: StoredTransaction,
  wire: WireTransaction,
  encoding: TransactionConfig['encoding'],
) {
  if (encoding === 'base64') return [base64, encoding]
  if (encoding === 'base58') return [getBase58Decoder().decode(getBase64Encoder().encode(base64)), encoding]
  const message = encoding === 'json' ? rawMessage(wire) : describedMessage(wire)
  return { signatures: wire.signatures, message }
}

function rawMessage({ message, accounts }: WireTransaction) {
  const { numSignerAccounts, numReadonlySignerAccounts, numReadonlyNonSignerAccounts } = message.header
  return {
    accountKeys: accounts,
    header: {
      numRequiredSignatures: numSignerAccounts,
      numReadonlySignedAccounts: numReadonlySignerAccounts,
      numReadonlyUnsignedAccounts: numReadonlyNonSignerAccounts,
    },
    recentBlockhash: message.lifetimeToken,
    instructions: rawInstructions(message, accounts),
    ...(message.version === 0 ? { addressTableLookups: [] } : {}),
  }
}

function rawInstructions(
  message: WireTransaction['message'],
  accounts: readonly Address[],
): RawInstruction[] {
  const placeOf = new Map(accounts.map((address, place) => [address, place]))
  return getInstructionsFromCompiledTransactionMessage(message).map((instruction) => ({
    programIdIndex: placeOf.get(instruction.programAddress) ?? 0,
    accounts: (instruction.accounts ?? []).map(({ address }) => placeOf.get(address) ?? 0),
    data: getBase58Decoder().decode(instruction.data ?? new Uint8Array()),
    stackHeight: 1,
  }))
}

function describedAccounts({ message }: WireTransaction) {
  const metas: readonly AccountMeta[] = getAccountMetasFromCompiledTransactionMessage(message)
  return metas.map(({ address, role }) => ({
    pubkey: address,
    signer: isSignerRole(role),
    source: 'transaction',
    writable: isWritableRole(role),
  }))
}

function describedMessage(wire: WireTransaction) {
  const { message, accounts } = wire
  const accountKeys = describedAccounts(wire)
  const instructions = rawInstructions(message, accounts).map((raw) => described(raw, accounts))
  const lookups = message.version === 0 ? { addressTableLookups: [] } : {}
  return { accountKeys, recentBlockhash: message.lifetimeToken, instructions, ...lookups }
}

function describedMeta({ meta }: StoredTransaction, { accounts }: WireTransaction) {
  const innerInstructions = meta.innerInstructions.map(({ index, instructions }) => ({
    index,
    instructions: instructions.map((raw) => described(raw, accounts)),
  }))
  return { ...meta, innerInstructions }
}

function described(raw: RawInstruction, accounts: readonly Address[]) {
  const addressAt = (place: number): Address => accounts[place] ?? ('' as Address)
  return {
    ...describeInstruction({
      programId: addressAt(raw.programIdIndex),
      accounts: raw.accounts.map(addressAt),
      data: Uint8Array.from(getBase58Encoder().encode(raw.data)),
      text: raw.data,
    }),
    stackHeight: raw.stackHeight,
  }
}

type PlainInstruction = {
  programId: Address
  accounts: readonly Address[]
  data: Uint8Array
  /** Base58. */
  text: string
}

const systemProgram = '11111111111111111111111111111111'
const systemTransfer = 2
const tokenTransfer = 3
const tokenTransferChecked = 12

function describeInstruction(instruction: PlainInstruction) {
  const { programId, accounts, text } = instruction
  return describeTransfer(instruction) ?? { programId, accounts, data: text }
}

function describeTransfer(instruction: PlainInstruction) {
  const { programId, data } = instruction
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  if (programId === systemProgram && data.length === 12 && view.getUint32(0, true) === systemTransfer) {
    const [source, destination] = instruction.accounts
    const info = { source, destination, lamports: view.getBigUint64(4, true) }
    return { program: 'system', programId, parsed: { type: 'transfer', info } }
  }
  if (!isTokenProgram(programId) || data.length < 9) return null
  const program = programId === TOKEN_PROGRAM_ADDRESS ? 'spl-token' : 'spl-token-2022'
  const parsed = describeTokenTransfer(instruction, view)
  return parsed === null ? null : { program, programId, parsed }
}

function describeTokenTransfer({ accounts, data }: PlainInstruction, view: DataView) {
  const [kind, amount] = [data[0], view.getBigUint64(1, true)]
  if (kind === tokenTransfer) {
    const [source, destination, authority] = accounts
    return { type: 'transfer', info: { source, destination, authority, amount: amount.toString() } }
  }
  const decimals = data[9]
  if (kind !== tokenTransferChecked || decimals === undefined) return null
  const [source, mint, destination, authority] = accounts
  const tokenAmount = toUiAmount(amount, decimals)
  return { type: 'transferChecked', info: { source, mint, destination, authority, tokenAmount } }
}
