import { closeSync, existsSync, ftruncateSync, openSync, readFileSync, readSync, writeSync } from 'node:fs'
import { type Address, getBase64Decoder, getBase64Encoder } from '@solana/kit'
import { parseExactly, stringifyExactly } from './json-rpc.ts'
import type { TransactionMeta } from './record.ts'
import type { TransactionError } from './runtime.ts'
import type { AccountState } from './token-state.ts'

export type StoredTransaction = {
  signature: string
  slot: number
  accounts: readonly string[]
  /** Base64. */
  wire: string
  meta: TransactionMeta
  changed: readonly StoredAccount[]
}

/** Null if the account is gone. */
export type StoredAccount = { address: string; state: StoredState | null }

type StoredState = { lamports: bigint | number; owner: string; data: string; executable: boolean }

/** Kept in memory; the rest is read from the file. */
export type TransactionEntry = {
  number: number
  signature: string
  slot: number
  err: TransactionError | null
  place: LinePlace
}

export type TransactionHistory = {
  /** Writes the transaction to the file before any caller gets a result. */
  add(transaction: StoredTransaction): void
  find(signature: string): TransactionEntry | null
  read(entry: TransactionEntry): StoredTransaction
  /** Oldest first. */
  ofAddress(address: string): readonly TransactionEntry[]
  ofSlot(slot: number): readonly TransactionEntry[]
  lastSlot(): number
  close(): void
}

const keptMax = 1000

/** `onStored` receives every transaction of the file. */
export function openHistory(
  path: string,
  onStored: (transaction: StoredTransaction) => void,
): TransactionHistory {
  const all: TransactionEntry[] = []
  const bySignature = new Map<string, TransactionEntry>()
  const byAddress = new Map<string, TransactionEntry[]>()
  const bySlot = new Map<number, TransactionEntry[]>()
  const kept = new Map<number, StoredTransaction>()
  const index = (stored: StoredTransaction, place: LinePlace): void => {
    const { signature, slot, accounts, meta } = stored
    const entry = { number: all.length, signature, slot, err: meta.err, place }
    all.push(entry)
    bySignature.set(signature, entry)
    for (const address of accounts) append(byAddress, address, entry)
    append(bySlot, slot, entry)
    kept.set(entry.number, stored)
    kept.delete(entry.number - keptMax)
  }
  const journal: JsonLinesFile<StoredTransaction> = openJournal(path, (transaction, place) => {
    index(transaction, place)
    onStored(transaction)
  })
  return {
    add: (transaction) => index(transaction, journal.append(transaction)),
    find: (signature) => bySignature.get(signature) ?? null,
    read: (entry) => kept.get(entry.number) ?? journal.read(entry.place),
    ofAddress: (address) => byAddress.get(address) ?? [],
    ofSlot: (slot) => bySlot.get(slot) ?? [],
    lastSlot: () => all.at(-1)?.slot ?? 0,
    close: () => journal.close(),
  }
}

export function toStoredAccount(address: Address, state: AccountState | null): StoredAccount {
  if (state === null) return { address, state }
  const { lamports, owner, data, executable } = state
  return { address, state: { lamports, owner, data: getBase64Decoder().decode(data), executable } }
}

export function fromStoredAccount({ state }: StoredAccount): AccountState | null {
  if (state === null) return null
  const data = Uint8Array.from(getBase64Encoder().encode(state.data))
  return { ...state, lamports: BigInt(state.lamports), owner: state.owner as Address, data }
}

function append<Key>(lists: Map<Key, TransactionEntry[]>, key: Key, entry: TransactionEntry): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [entry])
  else list.push(entry)
}

/** In bytes. */
type LinePlace = { offset: number; length: number }

type JsonLinesFile<Line> = {
  /** When this returns, a kill of the process loses nothing. */
  append(line: Line): LinePlace
  read(place: LinePlace): Line
  close(): void
}

/** A last line that a kill left incomplete was never confirmed to a caller, and is cut off. */
function openJournal<Line>(
  path: string,
  onLine: (line: Line, place: LinePlace) => void,
): JsonLinesFile<Line> {
  const existing = existsSync(path) ? readFileSync(path) : Buffer.alloc(0)
  let end = existing.lastIndexOf(newline) + 1
  for (let offset = 0; offset < end; ) {
    const length = existing.indexOf(newline, offset) - offset
    onLine(parseExactly(existing.toString('utf8', offset, offset + length)) as Line, { offset, length })
    offset += length + 1
  }
  const file = openSync(path, existsSync(path) ? 'r+' : 'w+', 0o600)
  ftruncateSync(file, end)
  return {
    append(line) {
      const bytes = Buffer.from(`${stringifyExactly(line)}\n`)
      writeSync(file, bytes, 0, bytes.length, end)
      const place = { offset: end, length: bytes.length - 1 }
      end += bytes.length
      return place
    },
    read({ offset, length }) {
      const bytes = Buffer.alloc(length)
      readSync(file, bytes, 0, length, offset)
      return parseExactly(bytes.toString('utf8')) as Line
    },
    close: () => closeSync(file),
  }
}

const newline = 0x0a
