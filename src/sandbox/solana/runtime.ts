import { type Address, lamports } from '@solana/kit'
import {
  Clock,
  FailedTransactionMetadata,
  type InnerInstruction,
  LiteSVM,
  type TransactionMetadata,
} from 'litesvm'
import type { AccountState } from './token-state.ts'
import { type TransactionError, toTransactionError } from './transaction-error.ts'
import type { WireTransaction } from './wire-transaction.ts'

/** The effects of a transaction that ran or was simulated. */
export type ExecutionOutcome = {
  error: TransactionError | null
  logs: string[]
  unitsConsumed: bigint
  inner: InnerInstruction[][]
}

type SlotTime = { slot: number; time: number }

/** Solana's virtual machine and its accounts. */
export type Runtime = {
  read(address: Address): AccountState | null
  write(address: Address, state: AccountState | null): void
  execute(wire: WireTransaction, at: SlotTime): ExecutionOutcome
  simulate(wire: WireTransaction, options: { at: SlotTime; checkSignatures: boolean }): ExecutionOutcome
  rentFor(bytes: number): bigint
}

/** The chain checks blockhashes and duplicates before it runs the machine, by its own slots and history. */
export function createRuntime(): Runtime {
  const machine = new LiteSVM().withBlockhashCheck(false).withTransactionHistory(0n)
  return {
    read(address) {
      const account = machine.getAccount(address)
      if (!account.exists || account.lamports === 0n) return null
      const { programAddress: owner, data, executable } = account
      return { lamports: account.lamports, owner, data: Uint8Array.from(data), executable }
    },
    write(address, state) {
      const { lamports: balance, owner, data, executable } = state ?? gone
      const account = { address, lamports: lamports(balance), programAddress: owner, data, executable }
      machine.setAccount({ ...account, space: BigInt(data.length) })
    },
    execute({ transaction }, at) {
      setTime(machine, at)
      return toOutcome(machine.sendTransaction(transaction))
    },
    simulate({ transaction }, { at, checkSignatures }) {
      setTime(machine, at)
      machine.withSigverify(checkSignatures)
      try {
        const result = machine.simulateTransaction(transaction)
        return toOutcome(result instanceof FailedTransactionMetadata ? result : result.meta())
      } finally {
        machine.withSigverify(true)
      }
    },
    rentFor: (bytes) => machine.minimumBalanceForRentExemption(BigInt(bytes)),
  }
}

const systemProgram = '11111111111111111111111111111111' as Address
/** The machine cannot remove an account; one without lamports counts as missing. */
const gone: AccountState = { lamports: 0n, owner: systemProgram, data: new Uint8Array(), executable: false }

function setTime(machine: LiteSVM, { slot, time }: SlotTime): void {
  machine.setClock(new Clock(BigInt(slot), 0n, 0n, 1n, BigInt(time)))
}

function toOutcome(result: TransactionMetadata | FailedTransactionMetadata): ExecutionOutcome {
  const failed = result instanceof FailedTransactionMetadata
  const meta = failed ? result.meta() : result
  return {
    error: failed ? toTransactionError(result.err()) : null,
    logs: meta.logs(),
    unitsConsumed: meta.computeUnitsConsumed(),
    inner: meta.innerInstructions(),
  }
}
