import { type Address, getBase58Decoder } from '@solana/kit'
import type { ExecutionOutcome, TransactionError } from './runtime.ts'
import { type AccountState, readMint, readTokenAccount, toUiAmount, type UiAmount } from './token-state.ts'

type UiTokenBalance = {
  accountIndex: number
  mint: string
  owner: string
  programId: string
  uiTokenAmount: UiAmount
}

export type RawInstruction = {
  programIdIndex: number
  accounts: number[]
  data: string
  stackHeight: number | null
}

/** With the names of the JSON-RPC interface. */
export type TransactionMeta = {
  err: TransactionError | null
  status: { Ok: null } | { Err: TransactionError }
  fee: bigint
  preBalances: bigint[]
  postBalances: bigint[]
  innerInstructions: { index: number; instructions: RawInstruction[] }[]
  logMessages: string[]
  preTokenBalances: UiTokenBalance[]
  postTokenBalances: UiTokenBalance[]
  rewards: never[]
  loadedAddresses: { writable: never[]; readonly: never[] }
  computeUnitsConsumed: bigint
}

/** In the transaction's order. */
export type AccountStates = readonly (AccountState | null)[]

export type Execution = {
  before: AccountStates
  after: AccountStates
  outcome: ExecutionOutcome
  decimalsOf: (mint: Address) => number
}

export function toMeta({ before, after, outcome, decimalsOf }: Execution): TransactionMeta {
  const { error, logs, unitsConsumed, inner } = outcome
  const [preBalances, postBalances] = [before.map(lamportsOf), after.map(lamportsOf)]
  const tokens = (states: AccountStates): UiTokenBalance[] => tokenBalances(states, decimalsOf)
  return {
    err: error,
    status: error === null ? { Ok: null } : { Err: error },
    // Every lamport that moved is in one of these accounts, so the difference is the fee.
    fee: sum(preBalances) - sum(postBalances),
    preBalances,
    postBalances,
    innerInstructions: innerInstructions(inner),
    logMessages: logs,
    preTokenBalances: tokens(before),
    postTokenBalances: tokens(after),
    rewards: [],
    loadedAddresses: { writable: [], readonly: [] },
    computeUnitsConsumed: unitsConsumed,
  }
}

function tokenBalances(states: AccountStates, decimalsOf: Execution['decimalsOf']): UiTokenBalance[] {
  return states.flatMap((state, accountIndex) => {
    const account = state === null ? null : readTokenAccount(state)
    if (state === null || account === null) return []
    const { mint, owner, amount } = account
    const uiTokenAmount = toUiAmount(amount, decimalsOf(mint))
    return [{ accountIndex, mint, owner, programId: state.owner, uiTokenAmount }]
  })
}

function innerInstructions(inner: ExecutionOutcome['inner']): TransactionMeta['innerInstructions'] {
  return inner.flatMap((list, index) => {
    const instructions = list.map((entry) => {
      const compiled = entry.instruction()
      const accounts = [...compiled.accounts()]
      const data = getBase58Decoder().decode(compiled.data())
      return { programIdIndex: compiled.programIdIndex(), accounts, data, stackHeight: entry.stackHeight() }
    })
    return instructions.length === 0 ? [] : [{ index, instructions }]
  })
}

/** Zero if there is no such mint. */
export function decimalsIn(mint: AccountState | null): number {
  return (mint === null ? null : readMint(mint))?.decimals ?? 0
}

function lamportsOf(state: AccountState | null): bigint {
  return state?.lamports ?? 0n
}

function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, amount) => total + amount, 0n)
}
