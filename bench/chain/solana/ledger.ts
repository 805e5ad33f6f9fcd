import { TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import type { Payment, Payments } from './payments.ts'

type Answer = (first: string, second: { before?: string; limit?: number; mint?: string }) => unknown

const blockTime = 1_700_000_000
const decimals = 6
/** The protocol's bound of one page of signatures. */
const pageMax = 1000

/** The methods that readers ask a node for, answered from a chain of payments. */
export function ledgerMethods(chain: Payments): Readonly<Record<string, Answer>> {
  const numberOf = new Map(chain.payments.map(({ number }) => [chain.signatureOf(number), number]))
  const byAccount = Map.groupBy(chain.payments, ({ owner }) => chain.accounts[owner] ?? '')
  const ofOwner = new Map(chain.owners.map((owner, place) => [owner, chain.accounts[place]]))
  const now = (value: unknown) => ({ context: { slot: chain.lastSlot }, value })
  const listed = ({ number, slot, failed }: Payment) => ({
    signature: chain.signatureOf(number),
    slot,
    err: failed ? 'AccountInUse' : null,
    memo: null,
    blockTime,
  })
  return {
    getGenesisHash: () => 'genesis',
    getFirstAvailableBlock: () => 0,
    getLatestBlockhash: () =>
      now({ blockhash: `hash${chain.lastSlot}`, lastValidBlockHeight: chain.lastSlot + 150 }),
    getAccountInfo: () => now(mintAccount()),
    getTokenAccountsByOwner: (owner) =>
      now([{ pubkey: ofOwner.get(owner), account: { data: ['', 'base64'], lamports: 1 } }]),
    getSignaturesForAddress(account, { before, limit = pageMax }) {
      const history = byAccount.get(account) ?? []
      const end = before === undefined ? history.length : placeOf(history, numberOf.get(before) ?? -1)
      return history
        .slice(Math.max(0, end - Math.min(limit, pageMax)), end)
        .toReversed()
        .map(listed)
    },
    getTransaction(signature) {
      const payment = chain.payments[numberOf.get(signature) ?? -1]
      return payment === undefined ? null : transactionOf(chain, payment)
    },
    getBlock: (slot) => ({
      blockhash: `hash${slot}`,
      blockTime,
      parentSlot: Number(slot) - 1,
      previousBlockhash: `hash${Number(slot) - 1}`,
    }),
  }
}

/** How many of a history come before a number; 0 for one that is unknown, as a node answers nothing then. */
function placeOf(history: readonly Payment[], number: number): number {
  let [low, high] = [0, history.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((history[middle]?.number ?? 0) < number) low = middle + 1
    else high = middle
  }
  return low
}

function mintAccount() {
  const data = Buffer.alloc(82)
  data[44] = decimals
  return { owner: TOKEN_PROGRAM_ADDRESS, data: [data.toString('base64'), 'base64'], lamports: 1 }
}

function transactionOf({ mint, payer, owners, accounts, signatureOf }: Payments, payment: Payment) {
  const amount = payment.failed ? 0 : payment.number + 1
  const token = (accountIndex: number, owner: string, units: number) => ({
    accountIndex,
    mint,
    owner,
    uiTokenAmount: { amount: String(units), decimals },
  })
  const owner = owners[payment.owner] ?? ''
  return {
    slot: payment.slot,
    blockTime,
    version: 0,
    meta: {
      err: payment.failed ? 'AccountInUse' : null,
      fee: 5000,
      preBalances: [10_000, 1, 1],
      postBalances: [5000, 1, 1],
      preTokenBalances: [token(1, payer.owner, amount), token(2, owner, 0)],
      postTokenBalances: [token(1, payer.owner, 0), token(2, owner, amount)],
      innerInstructions: [],
      loadedAddresses: { writable: [], readonly: [] },
    },
    transaction: {
      signatures: [signatureOf(payment.number)],
      message: { accountKeys: [payer.owner, payer.account, accounts[payment.owner]], instructions: [] },
    },
  }
}
