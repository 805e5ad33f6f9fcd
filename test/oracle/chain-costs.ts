import { createSolanaRpc, type Signature, address as solanaAddress } from '@solana/kit'
import { createPublicClient, http } from 'viem'

/** Whose spending is asked for; this file shares no code with the product. */
export type Spenders = { rpcUrl: string; owners: ReadonlySet<string> }

/** What an EVM chain took in fees from these owners, from its first block. */
export async function evmCosts({ rpcUrl, owners }: Spenders): Promise<bigint> {
  const client = createPublicClient({ transport: http(rpcUrl) })
  const head = await client.getBlockNumber()
  let costs = 0n
  for (let blockNumber = 0n; blockNumber <= head; blockNumber++) {
    const { transactions } = await client.getBlock({ blockNumber, includeTransactions: true })
    for (const { hash, from } of transactions) {
      if (!owners.has(from.toLowerCase())) continue
      const { gasUsed, effectiveGasPrice } = await client.getTransactionReceipt({ hash })
      costs += gasUsed * effectiveGasPrice
    }
  }
  return costs
}

/** What the payer of fees spent on Solana beside what it transferred: fees, and rent of token accounts it opened. */
export async function solanaCosts(rpcUrl: string, payer: string): Promise<bigint> {
  const rpc = createSolanaRpc(rpcUrl)
  let costs = 0n
  let before: Signature | undefined
  for (;;) {
    const page = await rpc
      .getSignaturesForAddress(solanaAddress(payer), before === undefined ? {} : { before })
      .send()
    for (const { signature } of page) costs += await costOf(rpc, signature, payer)
    const last = page.at(-1)
    if (last === undefined) return costs
    before = last.signature
  }
}

async function costOf(
  rpc: ReturnType<typeof createSolanaRpc>,
  signature: Signature,
  payer: string,
): Promise<bigint> {
  const config = { encoding: 'json', maxSupportedTransactionVersion: 0 } as const
  const found = await rpc.getTransaction(signature, config).send()
  if (found?.meta == null || found.transaction.message.accountKeys[0] !== payer) return 0n
  const { fee, preBalances, postBalances, postTokenBalances } = found.meta
  const opened = (postTokenBalances ?? []).filter(({ accountIndex }) => preBalances[accountIndex] === 0n)
  const rents = opened.map(({ accountIndex }): bigint => postBalances[accountIndex] ?? 0n)
  return rents.reduce((sum, rent) => sum + rent, fee as bigint)
}
