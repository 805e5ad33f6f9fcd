import {
  AccountRole,
  type AccountSignerMeta,
  type Instruction,
  type KeyPairSigner,
  type Address as KitAddress,
  address as toSolanaAddress,
} from '@solana/kit'
import {
  findAssociatedTokenPda,
  getCreateAssociatedTokenIdempotentInstruction,
  getTransferCheckedInstruction,
} from '@solana-program/token'
import type { Address } from '../../core/asset.ts'
import type { TransferOrder } from './port.ts'
import type { TokenAccount } from './solana-holdings.ts'
import type { MintTransferRules } from './solana-mints.ts'
import { feeOn, sentFor, type TransferFee } from './transfer-fee.ts'

/** So much leaves an account, and this much of it arrives. */
export type TokenAccountDebit = { account: KitAddress; sent: bigint; fee: bigint }

/** More would not fit into one transaction. */
export const partsMax = 8

export const noFee: TransferFee = { basisPoints: 0n, most: 0n }

/**
 * What to send from which account. With the fee from the amount, the order's amount leaves; else it arrives, and what
 * the token withholds is sent on top. Null where the accounts do not hold as much.
 */
export function gather(
  accounts: readonly TokenAccount[],
  { amount, feeFrom }: Pick<TransferOrder, 'amount' | 'feeFrom'>,
  fee: TransferFee,
): readonly TokenAccountDebit[] | null {
  const parts: TokenAccountDebit[] = []
  let left = amount
  for (const { account, amount: held } of accounts.slice(0, partsMax)) {
    const wanted = feeFrom === 'amount' ? left : sentFor(fee, left)
    const sent = held < wanted ? held : wanted
    if (sent === 0n) break
    const part = { account, sent, fee: feeOn(fee, sent) }
    parts.push(part)
    left -= feeFrom === 'amount' ? sent : sent - part.fee
  }
  return left === 0n ? parts : null
}

type SolanaTransferParties = { mint: Address; to: Address; feePayer: KeyPairSigner; holder: KeyPairSigner }

/** The account that wallets look for: one for each owner and mint. */
export async function usualAccount(
  { mint, to }: Pick<SolanaTransferParties, 'mint' | 'to'>,
  { program }: MintTransferRules,
): Promise<KitAddress> {
  const [account] = await findAssociatedTokenPda({
    owner: toSolanaAddress(to),
    mint: toSolanaAddress(mint),
    tokenProgram: program,
  })
  return account
}

/** Making an account that is there already does nothing. */
export function accountMaker(
  { mint, to, feePayer }: SolanaTransferParties,
  { program }: MintTransferRules,
  account: KitAddress,
): Instruction {
  return getCreateAssociatedTokenIdempotentInstruction({
    payer: feePayer,
    ata: account,
    owner: toSolanaAddress(to),
    mint: toSolanaAddress(mint),
    tokenProgram: program,
  })
}

/** A token that withholds a fee is told which fee is expected, so that no other one is taken. */
export function moves(
  { mint, holder }: SolanaTransferParties,
  { program, decimals, feeIn }: MintTransferRules,
  { destination, parts }: { destination: KitAddress; parts: readonly TokenAccountDebit[] },
): Instruction[] {
  const common = { mint: toSolanaAddress(mint), destination, authority: holder, decimals }
  return parts.map(({ account: source, sent: amount, fee }) =>
    feeIn === null
      ? getTransferCheckedInstruction({ ...common, source, amount }, { programAddress: program })
      : transferWithFee(program, { ...common, source, amount, fee }),
  )
}

type TransferWithFeeArgs = {
  source: KitAddress
  mint: KitAddress
  destination: KitAddress
  authority: KeyPairSigner
  amount: bigint
  decimals: number
  fee: bigint
}

/** TransferCheckedWithFee: 26, 1, amount, decimals, fee; integers of eight bytes, the least significant first. */
function transferWithFee(programAddress: KitAddress, transfer: TransferWithFeeArgs): Instruction {
  const { source, mint, destination, authority, amount, decimals, fee } = transfer
  const data = Buffer.alloc(19)
  data.writeUInt8(26, 0)
  data.writeUInt8(1, 1)
  data.writeBigUInt64LE(amount, 2)
  data.writeUInt8(decimals, 10)
  data.writeBigUInt64LE(fee, 11)
  const signer: AccountSignerMeta = {
    address: authority.address,
    role: AccountRole.READONLY_SIGNER,
    signer: authority,
  }
  const accounts = [
    { address: source, role: AccountRole.WRITABLE },
    { address: mint, role: AccountRole.READONLY },
    { address: destination, role: AccountRole.WRITABLE },
    signer,
  ]
  return { programAddress, accounts, data: Uint8Array.from(data) }
}
