/** A network as the oracle asks it: past every proxy. */
export type NetworkOfTruth = { readonly name: string; readonly url: string }

/** Of whom payments count, and in what: a contract, a mint, or `native`. */
export type Watched = { network: string; addresses: readonly string[]; contracts: readonly string[] }

export type Block = { height: number; hash: string; parent_hash: string }

/** `index` as in the key of a transfer: place of the log, or mint and owner; `native` is the coin. */
export type Payment = {
  height: number
  tx: string
  index: string
  address: string
  contract: string
  amount: string
}

export type Range = { blocks: readonly Block[]; paid: readonly Payment[] }

/** What a chain says of itself. */
export type TrueChain = {
  /** The newest height of which the oracle wants to know, and up to where the chain says that it is final. */
  ends: () => Promise<{ head: number; final: number }>
  hashAt: (height: number) => Promise<string | null>
  read: (from: number, to: number) => Promise<Range>
}
