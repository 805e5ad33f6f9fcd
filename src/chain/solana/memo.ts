import { type Base58EncodedBytes, getBase58Encoder } from '@solana/kit'

/** The two releases of the memo program. */
const memoPrograms: ReadonlySet<string> = new Set([
  'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo',
  'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
])

const charactersMax = 256

type Instruction = Readonly<{ programIdIndex: number; data: Base58EncodedBytes }>

/** A transaction in full, as a node answers it. */
type FullTransaction = {
  transaction: {
    message: { accountKeys: readonly string[]; instructions: readonly Instruction[] }
  }
  meta: { innerInstructions?: readonly { instructions: readonly Instruction[] }[] | null } | null
}

/** Programs are never taken from lookup tables, so that the transaction's own accounts name them. */
export function memoIn({ transaction, meta }: FullTransaction): string | null {
  const { accountKeys, instructions } = transaction.message
  const inner = (meta?.innerInstructions ?? []).flatMap((called) => called.instructions)
  return memoOf({ accounts: accountKeys, outer: instructions, inner })
}

/** The parts of a transaction in which memos are. */
type Instructions = {
  accounts: readonly string[]
  outer: readonly Instruction[]
  /** Those that programs called. */
  inner: readonly Instruction[]
}

/**
 * What a transaction's memos say, those that programs wrote included, one behind the other; null where there is none.
 * Anyone may write anything: it is cut to 256 characters, and characters that show nothing are taken out.
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
