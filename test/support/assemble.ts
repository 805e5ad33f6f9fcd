import type { Hex } from 'viem'

/** The instructions that the contracts of the tests use (Ethereum Yellow Paper, appendix H). */
const opcodes: Readonly<Record<string, number>> = {
  STOP: 0x00,
  ADD: 0x01,
  SUB: 0x03,
  EQ: 0x14,
  ISZERO: 0x15,
  SHR: 0x1c,
  CALLER: 0x33,
  CALLVALUE: 0x34,
  CALLDATALOAD: 0x35,
  POP: 0x50,
  MLOAD: 0x51,
  MSTORE: 0x52,
  SLOAD: 0x54,
  SSTORE: 0x55,
  JUMPI: 0x57,
  GAS: 0x5a,
  JUMPDEST: 0x5b,
  PUSH0: 0x5f,
  LOG2: 0xa2,
  LOG3: 0xa3,
  CALL: 0xf1,
  RETURN: 0xf3,
  REVERT: 0xfd,
  SELFDESTRUCT: 0xff,
}

const push1 = 0x60
/** A place in the code takes two bytes. */
const push2 = 0x61

/**
 * Makes the code of a contract out of words: instructions, `0x…` to push, `name:` for a place to jump to and `@name` to
 * push that place.
 */
export function assemble(source: string): Hex {
  const words = source.trim().split(/\s+/)
  const places = new Map<string, number>()
  let size = 0
  for (const word of words) {
    if (word.endsWith(':')) places.set(word.slice(0, -1), size)
    size += encode(word, () => 0).length / 2
  }
  const place = (name: string): number => {
    const found = places.get(name)
    if (found === undefined) throw new Error(`no place is called ${name}`)
    return found
  }
  return `0x${words.map((word) => encode(word, place)).join('')}`
}

function encode(word: string, place: (name: string) => number): string {
  if (word.startsWith('@')) return hex(push2) + place(word.slice(1)).toString(16).padStart(4, '0')
  if (word.startsWith('0x')) return hex(push1 + word.length / 2 - 2) + word.slice(2)
  const opcode = opcodes[word.endsWith(':') ? 'JUMPDEST' : word]
  if (opcode === undefined) throw new Error(`no instruction is called ${word}`)
  return hex(opcode)
}

function hex(byte: number): string {
  return byte.toString(16).padStart(2, '0')
}
