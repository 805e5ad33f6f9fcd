import {
  type Address,
  type CompiledTransactionMessage,
  type CompiledTransactionMessageWithLifetime,
  getBase58Decoder,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
  lamports,
  type Transaction,
} from '@solana/kit'
import {
  Clock,
  FailedTransactionMetadata,
  type InnerInstruction,
  LiteSVM,
  type TransactionMetadata,
} from 'litesvm'
import { messageOf } from '../../core/errors.ts'
import { invalidParams } from './json-rpc.ts'
import type { AccountState } from './token-state.ts'

export type ExecutionOutcome = {
  error: TransactionError | null
  logs: string[]
  unitsConsumed: bigint
  inner: InnerInstruction[][]
}

type SlotTime = { slot: number; time: number }

export type Runtime = {
  read(address: Address): AccountState | null
  write(address: Address, state: AccountState | null): void
  execute(wire: WireTransaction, at: SlotTime): ExecutionOutcome
  simulate(wire: WireTransaction, options: { at: SlotTime; checkSignatures: boolean }): ExecutionOutcome
  rentFor(bytes: number): bigint
}

/** The chain itself checks blockhashes and duplicates. */
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

export type TransactionError = string | { [name: string]: unknown }

/** The runtime numbers its errors in these orders. */
const transactionErrors =
  'AccountInUse AccountLoadedTwice AccountNotFound ProgramAccountNotFound InsufficientFundsForFee InvalidAccountForFee AlreadyProcessed BlockhashNotFound CallChainTooDeep MissingSignatureForFee InvalidAccountIndex SignatureFailure InvalidProgramForExecution SanitizeFailure ClusterMaintenance AccountBorrowOutstanding WouldExceedMaxBlockCostLimit UnsupportedVersion InvalidWritableAccount WouldExceedMaxAccountCostLimit WouldExceedAccountDataBlockLimit TooManyAccountLocks AddressLookupTableNotFound InvalidAddressLookupTableOwner InvalidAddressLookupTableData InvalidAddressLookupTableIndex InvalidRentPayingAccount WouldExceedMaxVoteCostLimit WouldExceedAccountDataTotalLimit MaxLoadedAccountsDataSizeExceeded ResanitizationNeeded InvalidLoadedAccountsDataSizeLimit UnbalancedTransaction ProgramCacheHitMaxLimit CommitCancelled'.split(
    ' ',
  )
const instructionErrors =
  'GenericError InvalidArgument InvalidInstructionData InvalidAccountData AccountDataTooSmall InsufficientFunds IncorrectProgramId MissingRequiredSignature AccountAlreadyInitialized UninitializedAccount UnbalancedInstruction ModifiedProgramId ExternalAccountLamportSpend ExternalAccountDataModified ReadonlyLamportChange ReadonlyDataModified DuplicateAccountIndex ExecutableModified RentEpochModified NotEnoughAccountKeys AccountDataSizeChanged AccountNotExecutable AccountBorrowFailed AccountBorrowOutstanding DuplicateAccountOutOfSync InvalidError ExecutableDataModified ExecutableLamportChange ExecutableAccountNotRentExempt UnsupportedProgramId CallDepth MissingAccount ReentrancyNotAllowed MaxSeedLengthExceeded InvalidSeeds InvalidRealloc ComputationalBudgetExceeded PrivilegeEscalation ProgramEnvironmentSetupFailure ProgramFailedToComplete ProgramFailedToCompile Immutable IncorrectAuthority AccountNotRentExempt InvalidAccountOwner ArithmeticOverflow UnsupportedSysvar IllegalOwner MaxAccountsDataAllocationsExceeded MaxAccountsExceeded MaxInstructionTraceLengthExceeded BuiltinProgramsMustConsumeComputeUnits BorshIoError'.split(
    ' ',
  )

function toTransactionError(error: ReturnType<FailedTransactionMetadata['err']>): TransactionError {
  if (typeof error === 'number') return transactionErrors[error] ?? `Unknown${error}`
  if ('err' in error) return { InstructionError: [error.index, toInstructionError(error.err())] }
  if ('index' in error) return { DuplicateInstruction: error.index }
  return { InsufficientFundsForRent: { account_index: error.accountIndex } }
}

function toInstructionError(error: InstructionError): TransactionError {
  if (typeof error === 'number') return instructionErrors[error] ?? `Unknown${error}`
  return 'code' in error ? { Custom: error.code } : 'BorshIoError'
}

type InstructionError = ReturnType<
  Extract<ReturnType<FailedTransactionMetadata['err']>, { err(): unknown }>['err']
>

export type WireTransaction = {
  transaction: Transaction
  message: CompiledTransactionMessage & CompiledTransactionMessageWithLifetime
  accounts: readonly Address[]
  /** In the order of the signing accounts; the first identifies the transaction. */
  signatures: readonly string[]
}

const unsigned = new Uint8Array(64)

/** @throws RpcError -32602 */
export function parseTransaction(bytes: Uint8Array): WireTransaction {
  const { transaction, message } = decode(bytes)
  if ('addressTableLookups' in message && (message.addressTableLookups ?? []).length > 0) {
    throw invalidParams('this local chain keeps no address lookup tables')
  }
  const signatures = Object.values(transaction.signatures).map((signature) =>
    getBase58Decoder().decode(signature ?? unsigned),
  )
  return { transaction, message, accounts: message.staticAccounts, signatures }
}

function decode(bytes: Uint8Array): Pick<WireTransaction, 'transaction' | 'message'> {
  try {
    const transaction = getTransactionDecoder().decode(bytes)
    return { transaction, message: getCompiledTransactionMessageDecoder().decode(transaction.messageBytes) }
  } catch (error) {
    throw invalidParams(`the transaction cannot be decoded: ${messageOf(error)}`)
  }
}
