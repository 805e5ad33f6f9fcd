import { type Hex, keccak256, numberToHex, pad, toHex } from 'viem'
import type { Anvil } from './anvil.ts'
import { assemble } from './assemble.ts'
import { asData, placeCode } from './small-contracts.ts'

const transferTopic = keccak256(toHex('Transfer(address,address,uint256)'))
const collector = '0x00000000000000000000000000000000000000fe'

/** What the token keeps of each transfer. */
export const fee = 10n

/**
 * Puts a token with 18 decimals on the chain, of which `holder` has plenty, and which keeps a fee of each transfer.
 * `net`: it tells of what arrives and of the fee, each in a log; `gross`: of what was sent, as if all of it arrived.
 */
export async function placeFeeToken(anvil: Anvil, holder: Hex, reports: 'net' | 'gross'): Promise<Hex> {
  const token = await placeCode(anvil, codeOf(reports))
  await anvil.client.setStorageAt({
    address: token,
    index: asData(holder),
    value: pad('0xffffffff', { size: 32 }),
  })
  return token
}

function codeOf(reports: 'net' | 'gross'): Hex {
  const keeps = numberToHex(fee, { size: 1 })
  const arrives = `${keeps} 0x24 CALLDATALOAD SUB`
  const reported = reports === 'net' ? arrives : '0x24 CALLDATALOAD'
  return assemble(`
    PUSH0 CALLDATALOAD 0xe0 SHR 0x70a08231 EQ @balanceOf JUMPI
    PUSH0 CALLDATALOAD 0xe0 SHR 0x313ce567 EQ @decimals JUMPI
    0x24 CALLDATALOAD CALLER SLOAD SUB CALLER SSTORE
    ${arrives} 0x04 CALLDATALOAD SLOAD ADD 0x04 CALLDATALOAD SSTORE
    ${keeps} ${collector} SLOAD ADD ${collector} SSTORE
    ${reported} PUSH0 MSTORE 0x04 CALLDATALOAD CALLER ${transferTopic} 0x20 PUSH0 LOG3
    ${keeps} PUSH0 MSTORE ${collector} CALLER ${transferTopic} 0x20 PUSH0 LOG3
    0x01 PUSH0 MSTORE 0x20 PUSH0 RETURN
    balanceOf: 0x04 CALLDATALOAD SLOAD PUSH0 MSTORE 0x20 PUSH0 RETURN
    decimals: 0x12 PUSH0 MSTORE 0x20 PUSH0 RETURN`)
}
