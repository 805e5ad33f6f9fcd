import { type Hex, keccak256, numberToHex, pad, toFunctionSelector, toHex } from 'viem'
import type { Anvil } from './anvil.ts'
import { assemble } from './assemble.ts'

const depositTopic = keccak256(toHex('Deposit(address,uint256)'))
const withdrawalTopic = keccak256(toHex('Withdrawal(address,uint256)'))
const transferTopic = keccak256(toHex('Transfer(address,address,uint256)'))

/** `balanceOf(address)` */
const balanceOf = '0x70a08231'

const answersBalances = `
  PUSH0 CALLDATALOAD 0xe0 SHR ${balanceOf} EQ @balance JUMPI`
const balance = `
  balance: 0x04 CALLDATALOAD SLOAD PUSH0 MSTORE 0x20 PUSH0 RETURN`

/**
 * The wrapping half of WETH9: what is sent to it is the sender's, told by Deposit; any call but `balanceOf` takes the
 * amount behind its selector back, told by Withdrawal. Neither writes a Transfer.
 */
export const wrapperCode: Hex = assemble(`
  CALLVALUE ISZERO @call JUMPI
  CALLVALUE CALLER SLOAD ADD CALLER SSTORE
  CALLVALUE PUSH0 MSTORE CALLER ${depositTopic} 0x20 PUSH0 LOG2 STOP
  call: ${answersBalances}
  0x04 CALLDATALOAD PUSH0 MSTORE
  PUSH0 MLOAD CALLER SLOAD SUB CALLER SSTORE
  CALLER ${withdrawalTopic} 0x20 PUSH0 LOG2
  PUSH0 PUSH0 PUSH0 PUSH0 PUSH0 MLOAD CALLER GAS CALL POP STOP
  ${balance}`)

/** A vault: what is sent to it is told by Deposit, in the words of WETH9, and by a Transfer from nobody as well. */
export const vaultCode: Hex = assemble(`
  CALLVALUE PUSH0 MSTORE
  CALLER ${depositTopic} 0x20 PUSH0 LOG2
  CALLER PUSH0 ${transferTopic} 0x20 PUSH0 LOG3 STOP`)

/** Sends on what it is given to the address in its call data, and nothing where that refuses it. */
export const forwarderCode: Hex = assemble(`
  PUSH0 PUSH0 PUSH0 PUSH0 CALLVALUE PUSH0 CALLDATALOAD GAS CALL POP STOP`)

/** Sends on what it is given to that address, and then takes all of it back by failing. */
export function regretterCode(to: Hex): Hex {
  return assemble(`PUSH0 PUSH0 PUSH0 PUSH0 CALLVALUE ${to} GAS CALL POP PUSH0 PUSH0 REVERT`)
}

/** Leaves all that it has to the address in its call data. */
export const leaverCode: Hex = assemble('PUSH0 CALLDATALOAD SELFDESTRUCT')

let placed = 0

/** Puts code at an address of its own. */
export async function placeCode(anvil: Anvil, code: Hex): Promise<Hex> {
  placed += 1
  const address = numberToHex(0xc0de_0000 + placed, { size: 20 })
  await anvil.client.setCode({ address, bytecode: code })
  return address
}

/** An address as call data. */
export function asData(address: Hex): Hex {
  return pad(address, { size: 32 })
}

/** The call data that takes an amount back from the wrapper: `withdraw(uint256)`. */
export function withdrawData(amount: bigint): Hex {
  return `0x2e1a7d4d${numberToHex(amount, { size: 32 }).slice(2)}`
}

/** A token that gives whoever is named what is named, and writes no log of it. */
export const silentTokenCode: Hex = assemble(`
  ${answersBalances}
  0x24 CALLDATALOAD 0x04 CALLDATALOAD SLOAD ADD 0x04 CALLDATALOAD SSTORE STOP
  ${balance}`)

/** The call data by which that token gives: `give(address,uint256)`. */
export function giveData(to: Hex, amount: bigint): Hex {
  return `${toFunctionSelector('give(address,uint256)')}${asData(to).slice(2)}${numberToHex(amount, { size: 32 }).slice(2)}`
}

/** A minimal proxy (ERC-1167): it runs the code of another contract on what it stores itself. */
export function proxyCode(implementation: Hex): Hex {
  return `0x363d3d373d3d3d363d73${implementation.slice(2)}5af43d82803e903d91602b57fd5bf3`
}
