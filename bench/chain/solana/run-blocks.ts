import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { isDeepStrictEqual } from 'node:util'
import { createSolanaRpcFromTransport, getBase58Decoder, type RpcTransport } from '@solana/kit'
import { exactJson } from '../../../src/chain/solana/node.ts'
import { withTransactionsOf } from '../../../src/chain/solana/thin-block.ts'
import { describeMachine, machineLines } from '../../machine.ts'
import { type Result, ratioFigure } from '../../result.ts'
import { ratioLine, ratioOf, spreadOf, spreadText } from '../../statistics.ts'

type Settings = { rounds: number; scale: number }

/** As on mainnet: 6.5 MB. One transaction in 500 names a watched address. */
const whole = { transactions: 1800, watched: 10_000 }
const target = 5

/** Processor time for reading a full block, whole and without the transactions of others. */
export async function runSolanaBlocks({ rounds, scale }: Settings): Promise<Result> {
  const machine = describeMachine(tmpdir(), ['@solana/kit'])
  const watched = Array.from({ length: whole.watched }, base58)
  const transactions = Math.max(10, Math.round(whole.transactions * scale))
  const text = makeBlock(transactions, watched)
  const owners = new Set(watched)
  const arms = {
    ours: rpcOf((answer) => exactJson.decode(withTransactionsOf(owners, answer))),
    whole: rpcOf((answer) => exactJson.decode(answer)),
  }
  const ms = { ours: [] as number[], whole: [] as number[] }
  // The first round is not counted: all code is compiled after it.
  for (let round = 0; round <= rounds; round++) {
    const [thin, full] = [await timed(arms.ours, text), await timed(arms.whole, text)]
    const touching = full.read.filter(({ transaction }) =>
      transaction.accountKeys.some(({ pubkey }) => owners.has(pubkey)),
    )
    if (touching.length === 0 || !isDeepStrictEqual(thin.read, touching))
      throw new Error(`${thin.read.length} transactions instead of ${touching.length} were read`)
    if (round === 0) continue
    ms.ours.push(thin.ms)
    ms.whole.push(full.ms)
  }
  const ratio = ratioOf(ms.whole, ms.ours, target)
  const settings = { rounds, transactions, watched: owners.size, bytes: text.length }
  const lines = [
    ...machineLines(machine, [settings]),
    '',
    'A full block of Solana: processor time, median (range) over the rounds',
    `  ours ${spreadText(spreadOf(ms.ours), 1)} ms, all transactions ${spreadText(spreadOf(ms.whole), 1)} ms`,
    ratioLine('all transactions', ratio),
    '',
  ]
  const report = { machine, settings, ours: spreadOf(ms.ours), whole: spreadOf(ms.whole), ratio }
  return { report, text: lines.join('\n'), figures: [ratioFigure('', 'all transactions of a block', ratio)] }
}

type Rpc = (answer: string) => ReturnType<typeof requestBlock>

function rpcOf(decode: (text: string) => unknown): Rpc {
  return (answer) =>
    requestBlock(createSolanaRpcFromTransport((() => Promise.resolve(decode(answer))) as RpcTransport))
}

function requestBlock(rpc: ReturnType<typeof createSolanaRpcFromTransport<RpcTransport>>) {
  return rpc
    .getBlock(1001n, { transactionDetails: 'accounts', rewards: false, maxSupportedTransactionVersion: 0 })
    .send()
}

/** In a row, so that each arm collects most of its own garbage. */
const reads = 5

async function timed(read: Rpc, text: string) {
  const before = process.cpuUsage()
  let block: Awaited<ReturnType<Rpc>> = null
  for (let count = 0; count < reads; count++) block = await read(text)
  const { user, system } = process.cpuUsage(before)
  if (block === null) throw new Error('no block was read')
  return { read: block.transactions, ms: (user + system) / 1000 / reads }
}

function base58(): string {
  return getBase58Decoder().decode(randomBytes(32))
}

/** Text of an answer. */
function makeBlock(count: number, watched: readonly string[]): string {
  const others = Array.from({ length: 20_000 }, base58)
  const other = () => others[randomBytes(2).readUInt16LE() % others.length] ?? ''
  const balance = (accountIndex: number) => ({
    accountIndex,
    mint: other(),
    owner: other(),
    programId: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
    uiTokenAmount: { amount: '123456789', decimals: 6, uiAmount: 123.456789, uiAmountString: '123.456789' },
  })
  const transactions = Array.from({ length: count }, (_, place) => {
    const keys = Array.from({ length: 12 }, other)
    if (place % 500 === 0) keys[3] = watched[place % watched.length] ?? ''
    const lamports = keys.map((_key, index) => 2_039_280 + index * 1e9)
    const balances = [1, 2, 3].map(balance)
    return {
      meta: {
        err: null,
        fee: 5000,
        postBalances: lamports,
        postTokenBalances: balances,
        preBalances: lamports,
        preTokenBalances: balances,
        status: { Ok: null },
      },
      transaction: {
        accountKeys: keys.map((pubkey) => ({ pubkey, signer: false, source: 'transaction', writable: true })),
        signatures: [`${base58()}${base58()}`],
      },
      version: 0,
    }
  })
  const hashes = { blockhash: base58(), previousBlockhash: base58() }
  const result = { blockHeight: 1, blockTime: 1_764_000_000, parentSlot: 1000, ...hashes, transactions }
  // A string as one is after it was received.
  return Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, result })).toString()
}
