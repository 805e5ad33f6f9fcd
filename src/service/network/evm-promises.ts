import { decodeFunctionData, erc20Abi, type Hex, parseTransaction } from 'viem'
import { type AssetCode, type AssetKey, assetCode, parseAddress } from '../../core/asset.ts'

/** The most that a signed transaction takes from its sender when it lands. */
type TransactionSpend = { native: bigint; token: { code: AssetCode; amount: bigint } | null }

/**
 * Reserves the funds of signed transactions: nodes do not know them before they are sent, and two transactions must not
 * spend the same funds. Kept in memory only, because after a restart every open transaction is either known to the node
 * or noted again when it is sent. A new version of a nonce replaces the old one.
 */
export type Promises = {
  note(sender: Hex, bytes: Hex): void
  /** How much of an asset the transactions with nonces from `from` to below `below` take. */
  taken(sender: Hex, asset: AssetKey, nonces: { from: number; below: number }): bigint
}

/** How many mined nonces to keep: a reorganization can make them pending again. */
const keptMax = 256

export function createPromises(): Promises {
  const bySender = new Map<Hex, Map<number, TransactionSpend>>()
  const of = (sender: Hex): Map<number, TransactionSpend> => bySender.get(sender) ?? new Map()
  return {
    note(sender, bytes) {
      const { nonce = 0, ...transaction } = parseTransaction(bytes)
      bySender.set(sender, of(sender).set(nonce, promiseOf(transaction)))
    },
    taken(sender, asset, { from, below }) {
      const promised = of(sender)
      for (const nonce of promised.keys()) if (nonce < from - keptMax) promised.delete(nonce)
      return [...promised]
        .filter(([nonce]) => nonce >= from && nonce < below)
        .reduce((sum, [, one]) => sum + takenOf(one, assetCode(asset)), 0n)
    },
  }
}

/** The recipient and the amount of a token transfer; null if the data is not one. */
export function readTokenTransfer(data: Hex | undefined): { to: Hex; amount: bigint } | null {
  if (data === undefined) return null
  const { functionName, args } = decodeFunctionData({ abi: erc20Abi, data })
  return functionName === 'transfer' ? { to: args[0], amount: args[1] } : null
}

type ParsedEvmTransaction = Omit<ReturnType<typeof parseTransaction>, 'nonce'>

function promiseOf({
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
