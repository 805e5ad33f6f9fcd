import { type Address, getBase64Decoder } from '@solana/kit'
import {
  fromStoredAccount,
  openHistory,
  type StoredTransaction,
  type TransactionHistory,
  toStoredAccount,
} from './history.ts'
import { type AccountStates, decimalsIn, toMeta } from './record.ts'
import { createRuntime, type ExecutionOutcome, type Runtime, type WireTransaction } from './runtime.ts'
import type { Slots } from './slots.ts'
import { type AccountState, readTokenAccount } from './token-state.ts'

export type SolanaChain = {
  slots: Slots
  history: TransactionHistory
  runtime: Runtime
  /** If the account cannot pay even the fee, the transaction leaves no trace. */
  execute(wire: WireTransaction, bytes: Uint8Array): ExecutionOutcome
  simulate(wire: WireTransaction, checkSignatures: boolean): ExecutionOutcome
  /** At the end of the slot, which must be one of the last few. */
  accountAt(address: Address, slot: number): AccountState | null
  /** Including former ones. */
  tokenAccountsOf(owner: Address): readonly Address[]
}

/** Before a transaction that is not final yet. */
type RecentChange = { slot: number; before: ReadonlyMap<Address, AccountState | null> }

export type ChainSettings = {
  path: string
  slots: Slots
  genesis: ReadonlyMap<Address, AccountState>
}

export function openChain({ path, slots, genesis }: ChainSettings): SolanaChain {
  const runtime = createRuntime()
  const tokenAccounts = new Map<Address, Set<Address>>()
  const recent: RecentChange[] = []
  for (const [address, state] of genesis) runtime.write(address, state)
  const newest = new Map<Address, AccountState | null>()
  const history = openHistory(path, (stored) => {
    for (const account of stored.changed) newest.set(account.address as Address, fromStoredAccount(account))
  })
  for (const [address, state] of newest) {
    runtime.write(address, state)
    noteTokenAccount(tokenAccounts, address, state)
  }
  slots.notBefore(history.lastSlot())
  const now = () => ({ slot: slots.at('processed'), time: slots.timeOf(slots.at('processed')) })
  return {
    slots,
    history,
    runtime,
    simulate: (wire, checkSignatures) => runtime.simulate(wire, { at: now(), checkSignatures }),
    execute(wire, bytes) {
      const at = now()
      const { outcome, before, after, stored } = run(runtime, { wire, bytes, at })
      if (stored === null) return outcome
      history.add(stored)
      for (const [place, address] of wire.accounts.entries()) {
        noteTokenAccount(tokenAccounts, address, after[place] ?? null)
      }
      forgetFinal(recent, slots.at('finalized'))
      recent.push({ slot: at.slot, before: pair(wire.accounts, before) })
      return outcome
    },
    accountAt(address, slot) {
      const later = recent.find((change) => change.slot > slot && change.before.has(address))
      return later === undefined ? runtime.read(address) : (later.before.get(address) ?? null)
    },
    tokenAccountsOf: (owner) => [...(tokenAccounts.get(owner) ?? [])],
  }
}

type Run = { wire: WireTransaction; bytes: Uint8Array; at: { slot: number; time: number } }

function run(runtime: Runtime, { wire, bytes, at }: Run) {
  const { accounts, signatures } = wire
  const readAll = (): AccountStates => accounts.map((address) => runtime.read(address))
  const before = readAll()
  const outcome = runtime.execute(wire, at)
  const after = readAll()
  const decimalsOf = (mint: Address): number => decimalsIn(runtime.read(mint))
  const meta = toMeta({ before, after, outcome, decimalsOf })
  const changed = accounts.flatMap((address, place) =>
    isSame(before[place] ?? null, after[place] ?? null)
      ? []
      : [toStoredAccount(address, after[place] ?? null)],
  )
  const [signature = ''] = signatures
  const wireText = getBase64Decoder().decode(bytes)
  const stored: StoredTransaction = { signature, slot: at.slot, accounts, wire: wireText, meta, changed }
  return { outcome, before, after, stored: changed.length === 0 ? null : stored }
}

function noteTokenAccount(
  tokenAccounts: Map<Address, Set<Address>>,
  address: Address,
  state: AccountState | null,
): void {
  const owner = state === null ? undefined : readTokenAccount(state)?.owner
  if (owner === undefined) return
  const known = tokenAccounts.get(owner) ?? new Set()
  tokenAccounts.set(owner, known.add(address))
}

function forgetFinal(recent: RecentChange[], finalSlot: number): void {
  const kept = recent.findIndex((change) => change.slot > finalSlot)
  recent.splice(0, kept === -1 ? recent.length : kept)
}

function pair(
  accounts: readonly Address[],
  states: AccountStates,
): ReadonlyMap<Address, AccountState | null> {
  return new Map(accounts.map((address, place) => [address, states[place] ?? null]))
}

function isSame(left: AccountState | null, right: AccountState | null): boolean {
  if (left === null || right === null) return left === right
  return (
    left.lamports === right.lamports &&
    left.owner === right.owner &&
    Buffer.compare(left.data, right.data) === 0
  )
}
