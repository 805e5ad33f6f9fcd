import { Client } from 'pg'
import { createPublicClient, getAddress, http, parseAbiItem } from 'viem'

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

async function readChain({ network, rpcUrl, address, token, others = [] }: Watched) {
  const client = createPublicClient({ transport: http(rpcUrl), cacheTime: 0 })
  const final = (await client.getBlock({ blockTag: 'finalized' })).number
  const head = await client.getBlockNumber()
  const block: object[] = []
  const paid: object[] = []
  for (let blockNumber = 0n; blockNumber <= head; blockNumber++) {
    const { hash, parentHash, transactions } = await client.getBlock({
      blockNumber,
      includeTransactions: true,
    })
    const place = { network, height: blockNumber.toString(), is_final: blockNumber <= final }
    block.push({ ...place, hash, parent_hash: parentHash })
    for (const { hash: tx, from, to, value } of transactions) {
      if (value === 0n || to?.toLowerCase() !== address || from === to) continue
      if ((await client.getTransactionReceipt({ hash: tx })).status !== 'success') continue
      const transfer = `${network}/${tx}/native`
      paid.push({ ...place, tx, transfer, asset: `${network}/native`, amount: value.toString() })
    }
  }
  const logs = await client.getLogs({
    address: [token, ...others].map((one) => getAddress(one)),
    event: transferEvent,
    args: { to: getAddress(address) },
    fromBlock: 0n,
    toBlock: head,
  })
  for (const { address: emitter, blockNumber, transactionHash, logIndex, args } of logs) {
    if (args.value === 0n || args.from === args.to) continue
    const place = { network, height: blockNumber.toString(), is_final: blockNumber <= final }
    const transfer = `${network}/${transactionHash}/${logIndex}`
    const asset = `${network}/${emitter.toLowerCase()}`
    paid.push({ ...place, tx: transactionHash, transfer, asset, amount: String(args.value) })
  }
  return { block, paid }
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
    select distinct on (transfer, role) transfer, role, network, stage, height from sighting
    order by transfer, role, inbox_id desc;
`
