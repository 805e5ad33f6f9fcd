import { Client } from 'pg'

/** Whose payments count, from a slot on. The node is asked directly, whatever the daemon is told. */
export type WatchedOnSolana = { network: string; rpcUrl: string; address: string; mint: string; from: bigint }

type TokenBalance = { accountIndex: number; mint: string; owner: string; uiTokenAmount: { amount: string } }
export type Reported = {
  transaction: { signatures: string[]; message: { accountKeys: string[] } }
  meta: {
    err: unknown
    preBalances: number[]
    postBalances: number[]
    preTokenBalances: TokenBalance[]
    postTokenBalances: TokenBalance[]
    loadedAddresses: { writable: string[]; readonly: string[] }
  }
}
type Block = { blockhash: string; previousBlockhash: string; transactions: Reported[] }

/**
 * Puts beside what is there what a Solana chain holds as final: its blocks, and what was paid. This file shares no code
 * with the product.
 */
export async function addSolanaChain(databaseUrl: string, watched: WatchedOnSolana): Promise<void> {
  const rows = await readChain(watched)
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    for (const name of ['block', 'paid'] as const) {
      await client.query(
        `insert into oracle.${name} select * from jsonb_populate_recordset(null::oracle.${name}, $1::jsonb)`,
        [JSON.stringify(rows[name])],
      )
    }
  } finally {
    await client.end()
  }
}

async function readChain(watched: WatchedOnSolana) {
  const { network, rpcUrl, from } = watched
  const read = { commitment: 'finalized' }
  const slots = await ask<number[]>(rpcUrl, 'getBlocksWithLimit', [Number(from), 100_000, read])
  const block: object[] = []
  const paid: object[] = []
  for (const slot of slots) {
    const how = {
      ...read,
      encoding: 'json',
      transactionDetails: 'full',
      maxSupportedTransactionVersion: 0,
      rewards: false,
    }
    const { blockhash, previousBlockhash, transactions } = await ask<Block>(rpcUrl, 'getBlock', [slot, how])
    const place = { network, height: slot, is_final: true }
    block.push({ ...place, hash: blockhash, parent_hash: previousBlockhash })
    const found = transactions.flatMap((reported) => paidBy(reported, watched))
    paid.push(...found.map((one) => ({ ...place, ...one })))
  }
  return { block, paid }
}

function paidBy(reported: Reported, watched: WatchedOnSolana): object[] {
  const { network, mint, address } = watched
  const [tx] = reported.transaction.signatures
  const received: [string, bigint][] = [
    [mint, tokensTo(reported, watched)],
    ['native', coinsTo(reported, address)],
  ]
  return received
    .filter(([, amount]) => amount > 0n)
    .map(([code, amount]) => {
      const transfer = `${network}/${tx}/${code}:${address}`
      return { tx, transfer, asset: `${network}/${code}`, amount: amount.toString() }
    })
}

/** What the owner has more of in all his accounts. */
export function tokensTo({ meta }: Reported, { address, mint }: { address: string; mint: string }): bigint {
  if (meta.err !== null) return 0n
  const sum = (balances: readonly TokenBalance[]) =>
    balances
      .filter((balance) => balance.owner === address && balance.mint === mint)
      .reduce((total, { uiTokenAmount }) => total + BigInt(uiTokenAmount.amount), 0n)
  return sum(meta.postTokenBalances) - sum(meta.preTokenBalances)
}

/** What he has more of himself, without the rent that came back from his own token accounts. He never pays fees. */
export function coinsTo({ meta, transaction }: Reported, address: string): bigint {
  if (meta.err !== null) return 0n
  const { writable, readonly } = meta.loadedAddresses
  const accounts = [...transaction.message.accountKeys, ...writable, ...readonly]
  const change = (place: number) =>
    BigInt(meta.postBalances[place] ?? 0) - BigInt(meta.preBalances[place] ?? 0)
  const own = accounts.indexOf(address)
  if (own < 0) return 0n
  const rent = meta.preTokenBalances
    .filter(({ owner }) => owner === address)
    .map(({ accountIndex }) => change(accountIndex))
    .filter((lamports) => lamports < 0n)
  return rent.reduce((sum, lamports) => sum + lamports, change(own))
}

async function ask<Result>(url: string, method: string, params: readonly unknown[]): Promise<Result> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const { result, error } = (await response.json()) as { result: Result; error?: { message: string } }
  if (error !== undefined) throw new Error(`${method}: ${error.message}`)
  return result
}
