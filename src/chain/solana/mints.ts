import { getBase64Encoder, type Address as KitAddress } from '@solana/kit'
import { TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import type { Address } from '../../core/asset.ts'
import { ask, type SolanaNode } from './node.ts'
import { toKit } from './watch.ts'

/** Token-2022. Its mints and accounts start with the layout of the Token program; extensions follow. */
export const token2022Program = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb' as KitAddress

export type MintAccountInfo = { program: KitAddress; decimals: number }

/** Offset of the decimals in a mint account: after the optional authority (36 bytes) and the supply (8 bytes). */
const decimalsOffset = 44

/** Null if the address is not a mint of either token program. */
export async function readMint(node: SolanaNode, mint: Address): Promise<MintAccountInfo | null> {
  const { value } = await ask(node, `mint ${mint}`, (rpc) =>
    rpc.getAccountInfo(toKit(mint), { commitment: 'finalized', encoding: 'base64' }).send(),
  )
  const program = value?.owner
  if (program === undefined || !isTokenProgram(program)) return null
  const decimals = getBase64Encoder().encode(value?.data[0] ?? '')[decimalsOffset]
  return decimals === undefined ? null : { program, decimals }
}

export function isTokenProgram(program: KitAddress): boolean {
  return program === TOKEN_PROGRAM_ADDRESS || program === token2022Program
}
