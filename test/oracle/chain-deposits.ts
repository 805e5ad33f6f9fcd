import { createSolanaRpc, type Signature, address as solanaAddress } from '@solana/kit'
import { createPublicClient, getAddress, http, parseAbiItem } from 'viem'

/** A payment as the chain itself tells it. This file shares no code with the product. */
export type PaidTransaction = {
  network: string
  tx: string
  address: string
  contract: string
  amount: bigint
}

export type Target = { network: string; rpcUrl: string; address: string; contracts: readonly string[] }

const transfer = parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)')

/** Every token and coin that an EVM chain says was paid to the address, from its first block. */
export async function evmPayments({
  network,
  rpcUrl,
  address,
  contracts,
}: Target): Promise<PaidTransaction[]> {
  const client = createPublicClient({ transport: http(rpcUrl) })
  const logs = await client.getLogs({
    address: contracts.map((contract) => getAddress(contract)),
    event: transfer,
    args: { to: getAddress(address) },
    fromBlock: 0n,
    toBlock: 'latest',
  })
  const tokens = logs.map((log) => ({
    network,
    tx: log.transactionHash,
    address,
    contract: log.address.toLowerCase(),
    amount: log.args.value ?? 0n,
  }))
  const head = await client.getBlockNumber()
  const coins: PaidTransaction[] = []
  for (let blockNumber = 0n; blockNumber <= head; blockNumber++) {
    const { transactions } = await client.getBlock({ blockNumber, includeTransactions: true })
    for (const { hash, to, value } of transactions) {
      if (value === 0n || to?.toLowerCase() !== address) continue
      coins.push({ network, tx: hash, address, contract: 'native', amount: value })
    }
  }
  return [...tokens, ...coins]
}

/** Every token and coin by which a Solana owner's balances grew, from its first transaction. */
export async function solanaPayments({
  network,
  rpcUrl,
  address,
  contracts,
}: Target): Promise<PaidTransaction[]> {
  const rpc = createSolanaRpc(rpcUrl)
  const accounts = [address, ...(await tokenAccounts(rpcUrl, address, contracts))]
  const signatures = new Set<Signature>()
  for (const account of accounts) {
    const listed = await rpc
      .getSignaturesForAddress(solanaAddress(account), { commitment: 'finalized' })
      .send()
    for (const { signature, err } of listed) if (err === null) signatures.add(signature)
  }
  const found = await Promise.all(
    [...signatures].map((signature) => gains(rpc, signature, { address, contracts })),
  )
  return found.flatMap(({ tx, gained }) => gained.map((one) => ({ network, tx, address, ...one })))
}

type Rpc = ReturnType<typeof createSolanaRpc>
type Held = { owner?: string; mint: string; uiTokenAmount: { amount: string } }

/** By how much one transaction raised the owner's balances. */
async function gains(
  rpc: Rpc,
  signature: Signature,
  { address, contracts }: Pick<Target, 'address' | 'contracts'>,
): Promise<{ tx: string; gained: { contract: string; amount: bigint }[] }> {
  const found = await rpc
    .getTransaction(signature, {
      commitment: 'finalized',
      encoding: 'json',
      maxSupportedTransactionVersion: 0,
    })
    .send()
  const meta = found?.meta
  if (!found || !meta) throw new Error(`the node lists ${signature} and does not have it`)
  const place = found.transaction.message.accountKeys.findIndex((key) => key === address)
  const coins =
    place < 0 ? 0n : BigInt(meta.postBalances[place] ?? 0n) - BigInt(meta.preBalances[place] ?? 0n)
  const tokens = contracts.map((contract) => ({
    contract,
    amount:
      held(meta.postTokenBalances ?? [], address, contract) -
      held(meta.preTokenBalances ?? [], address, contract),
  }))
  return {
    tx: signature,
    gained: [{ contract: 'native', amount: coins }, ...tokens].filter(({ amount }) => amount > 0n),
  }
}

function held(balances: readonly Held[], address: string, contract: string): bigint {
  const own = balances.filter(({ owner, mint }) => owner === address && mint === contract)
  return own.reduce((sum, { uiTokenAmount }) => sum + BigInt(uiTokenAmount.amount), 0n)
}

async function tokenAccounts(
  rpcUrl: string,
  address: string,
  contracts: readonly string[],
): Promise<string[]> {
  const rpc = createSolanaRpc(rpcUrl)
  const answers = await Promise.all(
    contracts.map((mint) =>
      rpc
        .getTokenAccountsByOwner(
          solanaAddress(address),
          { mint: solanaAddress(mint) },
          { encoding: 'base64' },
        )
        .send(),
    ),
  )
  return answers.flatMap(({ value }) => value.map(({ pubkey }) => pubkey))
}
