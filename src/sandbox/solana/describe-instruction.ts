import type { Address } from '@solana/kit'
import { TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import { isTokenProgram, toUiAmount } from './token-state.ts'

export type PlainInstruction = {
  programId: Address
  accounts: readonly Address[]
  data: Uint8Array
  /** The data in base58. */
  text: string
}

const systemProgram = '11111111111111111111111111111111'
const systemTransfer = 2
const tokenTransfer = 3
const tokenTransferChecked = 12

/**
 * An instruction in words, as `jsonParsed` has it: transfers of lamports and of tokens. All others are answered as
 * the real node answers those of programs that it does not know.
 */
export function describeInstruction(instruction: PlainInstruction) {
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
