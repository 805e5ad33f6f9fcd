import { Client } from 'pg'
import { type Block, createPublicClient, getAddress, http, type PublicClient, parseAbiItem } from 'viem'

/** Whose payments count. The node is asked directly, whatever the daemon is told. */
export type Watched = {
  network: string
  rpcUrl: string
  address: string
  token: string
  /** More tokens that count. */
  others?: readonly string[]
}

const transferEvent = parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)')

/**
 * Puts beside the books what the chain itself holds now: its blocks, and what was paid. This file shares no code with
 * the product.
 */
export async function storeChain(databaseUrl: string, watched: readonly Watched[]): Promise<void> {
  const chains = await Promise.all(watched.map(readChain))
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    await client.query(tables)
    for (const name of ['block', 'paid'] as const) {
      const rows = JSON.stringify(chains.flatMap((chain) => chain[name]))
      await client.query(
        `insert into oracle.${name} select * from jsonb_populate_recordset(null::oracle.${name}, $1::jsonb)`,
        [rows],
      )
    }
  } finally {
    await client.end()
  }
}

async function readChain(watched: Watched) {
  const { network, rpcUrl } = watched
  const client = createPublicClient({ transport: http(rpcUrl), cacheTime: 0 })
  const final = (await client.getBlock({ blockTag: 'finalized' })).number
  const head = await client.getBlockNumber()
  const placeOf = (height: bigint) => ({ network, height: height.toString(), is_final: height <= final })
  const block: object[] = []
  const payments = await paidInTokens(client, watched, head)
  for (let blockNumber = 0n; blockNumber <= head; blockNumber++) {
    const found = await client.getBlock({ blockNumber, includeTransactions: true })
    block.push({ ...placeOf(blockNumber), hash: found.hash, parent_hash: found.parentHash })
    payments.push(...(await paidInCoin(client, watched, found)))
  }
  const paid = payments.map(({ height, index, code, ...payment }) => ({
    ...placeOf(height),
    ...payment,
    transfer: `${network}/${payment.tx}/${index}`,
    asset: `${network}/${code}`,
  }))
  return { block, paid }
}

type Payment = { height: bigint; tx: string; index: string; code: string; amount: string }

/** What fails pays nothing, and so does who pays himself. */
async function paidInCoin(
  client: PublicClient,
  { address }: Watched,
  { number, transactions }: Block<bigint, true>,
): Promise<Payment[]> {
  const payments: Payment[] = []
  for (const { hash: tx, from, to, value } of transactions) {
    if (to?.toLowerCase() !== address || from === to || value === 0n) continue
    const { status } = await client.getTransactionReceipt({ hash: tx })
    const place = { height: number ?? -1n, tx, index: 'native', code: 'native' }
    if (status === 'success') payments.push({ ...place, amount: value.toString() })
  }
  return payments
}

async function paidInTokens(
  client: PublicClient,
  { token, others = [], address }: Watched,
  head: bigint,
): Promise<Payment[]> {
  const logs = await client.getLogs({
    address: [token, ...others].map((one) => getAddress(one)),
    event: transferEvent,
    args: { to: getAddress(address) },
    fromBlock: 0n,
    toBlock: head,
  })
  return logs.flatMap(({ address: emitter, blockNumber, transactionHash: tx, logIndex, args }) => {
    const { from, to, value = 0n } = args
    if (from === to || value === 0n) return []
    const [index, code] = [logIndex.toString(), emitter.toLowerCase()]
    return [{ height: blockNumber, tx, index, code, amount: value.toString() }]
  })
}

const tables = `
  drop schema if exists oracle cascade;
  create schema oracle;
  create table oracle.block (
    network text, height bigint, hash text, parent_hash text, is_final boolean, primary key (network, height)
  );
  create table oracle.paid (
    network text, tx text, asset text, amount numeric, height bigint, is_final boolean,
    transfer text primary key
  );
  create view oracle.standing as
    select * from ledger_journal as journal
    where kind <> 'reversal' and not exists (select from ledger_journal where reverses = journal.id);
  create view oracle.last_word as
    select distinct on (transfer, role) transfer, role, network, stage, height from chain_transfer
    order by transfer, role, inbox_id desc;
`
