import { createSolanaRpc, address as solanaAddress } from '@solana/kit'
import { createPublicClient, erc20Abi, getAddress, http } from 'viem'

/** Where to ask, and of what; this file shares no code with the product. */
export type Holding = { family: 'evm' | 'solana'; rpcUrl: string; contract: string; owner: string }

/** What the chain itself says an owner holds of a token or of the network's coin, in base units. */
export function chainBalance(holding: Holding): Promise<bigint> {
  return holding.family === 'evm' ? evmBalance(holding) : solanaBalance(holding)
}

function evmBalance({ rpcUrl, contract, owner }: Holding): Promise<bigint> {
  const client = createPublicClient({ transport: http(rpcUrl) })
  const address = getAddress(owner)
  if (contract === 'native') return client.getBalance({ address })
  return client.readContract({
    address: getAddress(contract),
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [address],
  })
}

async function solanaBalance({ rpcUrl, contract, owner }: Holding): Promise<bigint> {
  const rpc = createSolanaRpc(rpcUrl)
  const address = solanaAddress(owner)
  if (contract === 'native') return (await rpc.getBalance(address).send()).value
  const filter = { mint: solanaAddress(contract) }
  const { value } = await rpc.getTokenAccountsByOwner(address, filter, { encoding: 'jsonParsed' }).send()
  const amounts = value.map(({ account }) => BigInt(account.data.parsed.info.tokenAmount.amount))
  return amounts.reduce((sum, amount) => sum + amount, 0n)
}
