import { type Base58EncodedBytes, getBase58Encoder } from '@solana/kit'

/** The two releases of the memo program. */
const memoPrograms: ReadonlySet<string> = new Set([
  'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo',
  'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
])

const charactersMax = 256

type Instruction = Readonly<{ programIdIndex: number; data: Base58EncodedBytes }>

/** A complete transaction, as a node returns it. */
type FullTransaction = {
  transaction: {
    message: { accountKeys: readonly string[]; instructions: readonly Instruction[] }
  }
  meta: { innerInstructions?: readonly { instructions: readonly Instruction[] }[] | null } | null
}

/** Programs never come from lookup tables, so the transaction's own accounts suffice. */
export function memoIn({ transaction, meta }: FullTransaction): string | null {
  const { accountKeys, instructions } = transaction.message
  const inner = (meta?.innerInstructions ?? []).flatMap((called) => called.instructions)
  return memoOf({ accounts: accountKeys, outer: instructions, inner })
}

/** The parts of a transaction that contain memos. */
type Instructions = {
  accounts: readonly string[]
  outer: readonly Instruction[]
  /** Instructions called by programs. */
  inner: readonly Instruction[]
}

/**
 * The memos of a transaction, including those written by programs, joined by spaces; null if there are none. Memos are
 * untrusted text: they are cut to 256 characters, and invisible characters are removed.
 */
export function memoOf({ accounts, outer, inner }: Instructions): string | null {
  const texts = [...outer, ...inner]
    .filter(({ programIdIndex }) => memoPrograms.has(accounts[programIdIndex] ?? ''))
    .map(({ data }) => new TextDecoder().decode(Uint8Array.from(getBase58Encoder().encode(data))))
  const text = texts
    .map((one) => one.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, ''))
    .filter((one) => one !== '')
    .join(' ')
  return text === '' ? null : Array.from(text).slice(0, charactersMax).join('')
}
