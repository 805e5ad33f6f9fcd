import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Abi, type Account, getContractAddress, type Hex } from 'viem'
import { type Anvil, rich } from './anvil.ts'

const folder = join(import.meta.dirname, '../../node_modules/@openzeppelin/contracts/build/contracts')
const preset = JSON.parse(readFileSync(join(folder, 'ERC20PresetMinterPauser.json'), 'utf8')) as {
  abi: Abi
  bytecode: Hex
}

/** A real ERC-20 contract with 18 decimals, of which `rich` holds plenty. */
export type TestToken = {
  address: Hex
  /** Sends a transfer without mining it; the hash of its transaction. */
  send(to: Hex, amount: bigint, from?: Hex): Promise<Hex>
}

export async function deployToken(anvil: Anvil, symbol: string): Promise<TestToken> {
  const nonce = await anvil.client.getTransactionCount({ address: rich.address })
  const address = getContractAddress({ from: rich.address, nonce: BigInt(nonce) }).toLowerCase() as Hex
  await anvil.client.deployContract({ ...preset, args: [symbol, symbol] })
  await anvil.mine()
  const call = (functionName: string, args: [Hex, bigint], account: Hex | Account = anvil.client.account) =>
    anvil.client.writeContract({ address, abi: preset.abi, functionName, args, gas: 200_000n, account })
  await call('mint', [rich.address, 10n ** 30n])
  await anvil.mine()
  return { address, send: (to, amount, from) => call('transfer', [to, amount], from) }
}
