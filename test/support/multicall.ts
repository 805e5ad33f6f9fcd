import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Hex, multicall3Abi } from 'viem'
import type { Anvil } from './anvil.ts'

const multicallAddress: Hex = '0xca11bde05977b3631167028862be2a173976ca11'

/** viem carries the contract's bytecode for chains without it, and exports it to nobody. */
const carrier = join(import.meta.dirname, '../../node_modules/viem/constants/contracts.ts')
const [, bytecode] = /multicall3Bytecode =\s+'(0x[0-9a-f]+)'/.exec(readFileSync(carrier, 'utf8')) ?? []

/** Puts the real Multicall3 at the address that it has on public chains. */
export async function placeMulticall(anvil: Anvil): Promise<void> {
  const { client } = anvil
  const hash = await client.deployContract({ abi: multicall3Abi, bytecode: bytecode as Hex })
  await anvil.mine()
  const { contractAddress } = await client.getTransactionReceipt({ hash })
  const code = await client.getCode({ address: contractAddress ?? multicallAddress })
  await client.setCode({ address: multicallAddress, bytecode: code ?? '0x' })
  await anvil.mine()
}
