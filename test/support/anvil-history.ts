import { encodeFunctionData, erc20Abi, type Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { type Anvil, startAnvil } from './anvil.ts'
import { deployToken, type TestToken } from './test-token.ts'

/** The second account of anvil's published development mnemonic. */
const other = privateKeyToAccount('0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d')

/** A chain whose history can be taken back and come again, and a token that two accounts hold. */
export type Replayable = { anvil: Anvil; token: TestToken }

/** Of the same transactions on the same block, such a node makes the same block each time. */
export async function startReplayable(chainId = 8453): Promise<Replayable> {
  const anvil = await startAnvil(chainId, ['--block-base-fee-per-gas', '0'])
  await anvil.client.setBlockTimestampInterval({ interval: 1 })
  const token = await deployToken(anvil, 'USDC')
  await token.send(other.address, 10n ** 20n)
  await anvil.mine(3)
  return { anvil, token }
}

/** Replaces all blocks above a height by as many others, the first of which hold these transactions, one list each. */
export async function replaceAbove(
  { client }: Anvil,
  height: bigint,
  blocks: readonly (readonly Hex[])[] = [],
): Promise<void> {
  const depth = Number((await client.getBlockNumber()) - height)
  const placed = blocks.flatMap((transactions, place) => transactions.map((raw) => [raw, place]))
  await client.request({ method: 'anvil_reorg' as never, params: [depth, placed] as never })
}

/** A transfer by somebody else than who usually pays, signed and not sent. */
export async function signTransfer({ anvil, token }: Replayable, to: Hex, value: bigint): Promise<Hex> {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, value] })
  const nonce = await anvil.client.getTransactionCount({ address: other.address })
  const fees = { gas: 200_000n, maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 1n }
  return other.signTransaction({ to: token.address, data, nonce, chainId: anvil.chainId, ...fees })
}

/** A transaction as it was sent. */
export function rawOf({ client }: Anvil, hash: Hex): Promise<Hex> {
  return client.request({ method: 'eth_getRawTransactionByHash', params: [hash] } as never)
}
