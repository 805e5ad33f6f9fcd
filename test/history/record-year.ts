import {
  type Address as EvmAddress,
  encodeFunctionData,
  type Hash,
  numberToHex,
  type TransactionReceipt,
} from 'viem'
import { type Asset, assetCode, parseAddress, toTxId } from '../../src/core/asset.ts'
import { assert } from '../../src/core/errors.ts'
import { parseAmount } from '../../src/core/money.ts'
import { openEvmClient, tokenAbi } from '../../src/sandbox/evm-faucet.ts'
import type { SandboxNetwork } from '../../src/sandbox/local-networks.ts'
import { sandboxTerms } from '../../src/sandbox/sandbox-service.ts'
import { quote } from '../../src/service/deposits/quote.ts'
import { recordWriter } from '../../src/service/deposits/record.ts'
import { newId } from '../../src/service/new-id.ts'
import type { ServiceDatabase, ServiceDepositRow } from '../../src/service/tables.ts'
import { inTransaction } from '../../src/store/database.ts'
import type { DepositAddress } from './ground.ts'

export type YearRequest = {
  db: ServiceDatabase
  network: SandboxNetwork
  addresses: readonly DepositAddress[]
  /** Who delivers. */
  liquidity: string
  deposits: number
  say: (line: string) => void
}

/**
 * Each batch has a block of payments, one of their deliveries, and empty ones. For each block, anvil needs time that grows
 * with the number of blocks before it.
 */
const batchSize = 100
const batchBlocks = 10
const rowsAtOnce = 500
const gas = numberToHex(150_000)

export function blocksOfYear(deposits: number): number {
  return Math.ceil(deposits / batchSize) * batchBlocks
}

/**
 * What a service did in a year, while the service does not run: payments and deliveries on an EVM network, each a
 * transaction of its own, and the records of both. The service itself makes some 20 a second.
 * @returns the payments, oldest first
 */
export async function recordYear(request: YearRequest): Promise<{ tx: string; network: string }[]> {
  const { db, network, liquidity, deposits, say } = request
  const chain = openBatches(network)
  await chain.client.impersonateAccount({ address: liquidity as EvmAddress })
  const paid: { tx: string; network: string }[] = []
  let rows: ServiceDepositRow[] = []
  for (let from = 0; from < deposits; from += batchSize) {
    const size = Math.min(batchSize, deposits - from)
    const due = Array.from({ length: size }, (_, place) => draw(request, from + place))
    const payments = await chain.send(network.payer, due)
    const deliveries = await chain.send(liquidity, due.map(deliveryOf))
    await chain.client.mine({ blocks: batchBlocks - 2 })
    rows.push(...due.map((one, place) => rowOf(network, one, [payments[place], deliveries[place]])))
    paid.push(...payments.map(({ transaction }) => ({ tx: transaction, network: network.name })))
    if (rows.length < rowsAtOnce && from + size < deposits) continue
    await saveRecords(db, network, rows)
    rows = []
    if (paid.length % 5000 === 0) say(`${paid.length} deposits recorded`)
  }
  await chain.client.stopImpersonatingAccount({ address: liquidity as EvmAddress })
  return paid
}

type DrawnDeposit = ReturnType<typeof draw>

/** Each asset, to one owner after another. */
function draw({ network, addresses }: YearRequest, place: number) {
  const asset = network.assets[place % network.assets.length]
  const here = addresses.filter((one) => one.network === network.name && one.forward.network === network.name)
  const to = here[Math.floor(place / network.assets.length) % here.length]
  const delivered = network.assets.find(({ symbol }) => symbol === to?.forward.asset)
  if (asset === undefined || to === undefined || delivered === undefined) throw new Error('nothing to pay')
  const amount: bigint = parseAmount('0.02', asset.decimals) + BigInt(place)
  const quoted = quote(sandboxTerms, amount, { from: asset, to: delivered })
  assert(quoted !== null, 'every pair has a price')
  return { asset, to, amount, delivered, quoted }
}

type DueTransfer = { asset: Asset; to: { address: string }; amount: bigint }

function deliveryOf({ delivered, to, quoted }: DrawnDeposit): DueTransfer {
  return { asset: delivered, to: { address: to.forward.recipient }, amount: quoted.amount }
}

type MadeTransfer = { transaction: string; index: string; block: bigint; blockHash: string; at: Date }

/** JSON-RPC calls a hundred at once, because that is what takes the time. */
function openBatches({ rpcUrls: [url = ''], chainId }: SandboxNetwork) {
  const client = openEvmClient(url, chainId ?? 0)
  const call = async <Result>(method: string, params: readonly unknown[][]): Promise<Result[]> => {
    const body = JSON.stringify(params.map((one, id) => ({ jsonrpc: '2.0', id, method, params: one })))
    const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    const results = (await answer.json()) as { id: number; result?: Result; error?: unknown }[]
    return results
      .toSorted((left, right) => left.id - right.id)
      .map(({ result, error }) => {
        if (result === undefined || result === null) throw new Error(`${method}: ${JSON.stringify(error)}`)
        return result
      })
  }
  return {
    client,
    async send(from: string, due: readonly DueTransfer[]): Promise<MadeTransfer[]> {
      const first = await client.getTransactionCount({ address: from as EvmAddress })
      const sent = due.map((one, place) => [{ from, nonce: numberToHex(first + place), gas, ...bodyOf(one) }])
      const hashes = await call<Hash>('eth_sendTransaction', sent)
      await client.mine({ blocks: 1 })
      const receipts = await call<RawReceipt>(
        'eth_getTransactionReceipt',
        hashes.map((hash) => [hash]),
      )
      const blocks = await timesOf(client, receipts)
      return receipts.map((one) => madeTransfer(one, blocks.get(one.blockHash)))
    },
  }
}

type RawReceipt = Pick<TransactionReceipt, 'blockHash' | 'transactionHash'> & {
  status: string
  blockNumber: string
  logs: { logIndex: string }[]
}

function bodyOf({ asset, to, amount }: DueTransfer): object {
  const code = assetCode(asset.key)
  const receiver = to.address as EvmAddress
  if (code === 'native') return { to: receiver, value: numberToHex(amount) }
  return {
    to: code,
    data: encodeFunctionData({ abi: tokenAbi, functionName: 'transfer', args: [receiver, amount] }),
  }
}

async function timesOf(
  client: ReturnType<typeof openEvmClient>,
  receipts: readonly RawReceipt[],
): Promise<ReadonlyMap<string, Date>> {
  const hashes = [...new Set(receipts.map(({ blockHash }) => blockHash))]
  const blocks = await Promise.all(hashes.map((blockHash) => client.getBlock({ blockHash })))
  return new Map(blocks.map(({ hash, timestamp }) => [hash, new Date(Number(timestamp) * 1000)]))
}

function madeTransfer(receipt: RawReceipt, at: Date | undefined): MadeTransfer {
  const { status, transactionHash, blockHash, blockNumber, logs } = receipt
  assert(status === '0x1' && at !== undefined, `${transactionHash} landed`)
  const [log] = logs
  return {
    transaction: toTxId(transactionHash),
    index: log === undefined ? 'native' : BigInt(log.logIndex).toString(),
    block: BigInt(blockNumber),
    blockHash,
    at,
  }
}

function rowOf(
  network: SandboxNetwork,
  { asset, to, amount, delivered, quoted }: DrawnDeposit,
  [payment, delivery]: [MadeTransfer | undefined, MadeTransfer | undefined],
): ServiceDepositRow {
  assert(payment !== undefined && delivery !== undefined, 'each deposit is paid and delivered')
  const contractOf = (code: string) => (code === 'native' ? null : parseAddress(network.family, code))
  return {
    id: newId('dep'),
    sequence: 0n,
    revision: 1,
    owner_kind: 'channel',
    owner_id: to.owner,
    status: 'settled',
    reason: null,
    released_at: null,
    network: network.name,
    address: parseAddress(network.family, to.address),
    asset: asset.symbol,
    contract: contractOf(assetCode(asset.key)),
    decimals: asset.decimals,
    amount: amount.toString(),
    transaction: payment.transaction,
    index: payment.index,
    sender: network.payer,
    block: payment.block,
    block_hash: payment.blockHash,
    block_at: payment.at,
    to_network: network.name,
    to_address: parseAddress(network.family, to.forward.recipient),
    to_asset: delivered.symbol,
    to_contract: contractOf(assetCode(delivered.key)),
    to_decimals: delivered.decimals,
    to_amount: quoted.amount.toString(),
    to_transaction: delivery.transaction,
    to_at: delivery.at,
    fee: quoted.fee.toString(),
    rate: quoted.rate,
    refund_address: null,
    refund_amount: null,
    refund_transaction: null,
    refund_at: null,
    sweep_id: null,
    created_at: payment.at,
    updated_at: delivery.at,
  }
}

async function saveRecords(
  db: ServiceDatabase,
  network: SandboxNetwork,
  rows: readonly ServiceDepositRow[],
): Promise<void> {
  const show = recordWriter([network])
  const events = rows.map((row) => {
    const [id, type, at] = [newId('evt'), 'deposit.settled', row.updated_at]
    const body = JSON.stringify({ id, type, created_at: at.toISOString(), data: show(row) })
    return { id, type, deposit_id: row.id, revision: row.revision, body, created_at: at }
  })
  await inTransaction(db, async (tx) => {
    const records = rows.map(({ sequence: _sequence, ...row }) => row)
    await tx.insertInto('service.deposit').values(records).execute()
    await tx.insertInto('service.event').values(events).execute()
  })
}
