import { decodeFunctionData, erc20Abi, getAddress, type Hex, type PublicClient, parseTransaction } from 'viem'
import { type AssetCode, type AssetKey, assetCode, parseAddress } from '../../core/asset.ts'

export type Funds = {
  /** Available after all lower nonces have landed. */
  free(asset: AssetKey, nonce: bigint): bigint
  /** Available after all other transactions have landed. */
  freeBeside(asset: AssetKey, nonce: bigint): bigint
  /** Ignores transactions that are signed and not sent yet. */
  held(asset: AssetKey): bigint
}

export type BlockTag = 'latest' | 'pending'

type View = { from: number; held: ReadonlyMap<AssetKey, bigint> }

type FundsQuery = { holder: Hex; assets: readonly AssetKey[]; tags: readonly BlockTag[] }

/**
 * Uses the lower of the newest block, which lacks pending transactions, and the pending block. The nonce is read first,
 * so that a transaction that lands in between counts twice instead of never.
 */
export async function readFunds(
  { client, reservations }: { client: PublicClient; reservations: Reservations },
  { holder, assets, tags }: FundsQuery,
): Promise<Funds> {
  const views = await Promise.all(
    tags.map(async (blockTag): Promise<View> => {
      const from = await client.getTransactionCount({ address: holder, blockTag })
      const amounts = await Promise.all(
        assets.map(async (asset) => [asset, await readBalance(client, holder, { asset, blockTag })] as const),
      )
      return { from, held: new Map(amounts) }
    }),
  )
  const least = (amountIn: (view: View) => bigint): bigint =>
    views.map(amountIn).reduce((left, right) => (left < right ? left : right))
  const free = (asset: AssetKey, nonce: bigint): bigint =>
    least(({ from, held }) => {
      const below = Number(nonce)
      return (held.get(asset) ?? 0n) - reservations.taken(holder, asset, { from, below })
    })
  return {
    free,
    freeBeside(asset, nonce) {
      const after = { from: Number(nonce) + 1, below: Infinity }
      return free(asset, nonce) - reservations.taken(holder, asset, after)
    },
    held: (asset) => least(({ held }) => held.get(asset) ?? 0n),
  }
}

export function readBalance(
  client: PublicClient,
  holder: Hex,
  { asset, blockTag }: { asset: AssetKey; blockTag: BlockTag },
): Promise<bigint> {
  const code = assetCode(asset)
  if (code === 'native') return client.getBalance({ address: holder, blockTag })
  const contract = { address: getAddress(code), abi: erc20Abi, blockTag } as const
  return client.readContract({ ...contract, functionName: 'balanceOf', args: [holder] })
}

/** The most that the transaction takes when it lands. */
type TransactionSpend = { native: bigint; token: { code: AssetCode; amount: bigint } | null }

/**
 * Funds of signed transactions, which nodes do not know before they are sent. In memory only: after a restart every
 * open transaction is known to the node or noted again. A new version of a nonce replaces the old one.
 */
export type Reservations = {
  add(sender: Hex, bytes: Hex): void
  /** Counts nonces from `from` to below `below`. */
  taken(sender: Hex, asset: AssetKey, nonces: { from: number; below: number }): bigint
}

/** Mined nonces: a reorganization can make them pending again. */
const keptMax = 256

export function createReservations(): Reservations {
  const bySender = new Map<Hex, Map<number, TransactionSpend>>()
  const of = (sender: Hex): Map<number, TransactionSpend> => bySender.get(sender) ?? new Map()
  return {
    add(sender, bytes) {
      const { nonce = 0, ...transaction } = parseTransaction(bytes)
      bySender.set(sender, of(sender).set(nonce, spendOf(transaction)))
    },
    taken(sender, asset, { from, below }) {
      const reserved = of(sender)
      for (const nonce of reserved.keys()) if (nonce < from - keptMax) reserved.delete(nonce)
      return [...reserved]
        .filter(([nonce]) => nonce >= from && nonce < below)
        .reduce((sum, [, one]) => sum + takenOf(one, assetCode(asset)), 0n)
    },
  }
}

/** Null if the data is not a token transfer. */
export function readTokenTransfer(data: Hex | undefined): { to: Hex; amount: bigint } | null {
  if (data === undefined) return null
  const { functionName, args } = decodeFunctionData({ abi: erc20Abi, data })
  return functionName === 'transfer' ? { to: args[0], amount: args[1] } : null
}

type ParsedEvmTransaction = Omit<ReturnType<typeof parseTransaction>, 'nonce'>

function spendOf({
  to,
  value = 0n,
  gas = 0n,
  maxFeePerGas = 0n,
  data,
}: ParsedEvmTransaction): TransactionSpend {
  const transfer = readTokenTransfer(data)
  const token = transfer === null ? null : { code: parseAddress('evm', to ?? ''), amount: transfer.amount }
  return { native: value + gas * maxFeePerGas, token }
}

function takenOf({ native, token }: TransactionSpend, code: AssetCode): bigint {
  if (code === 'native') return native
  return token?.code === code ? token.amount : 0n
}
