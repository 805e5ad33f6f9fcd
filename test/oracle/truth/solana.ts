import { coinsTo, type Reported, tokensTo } from '../solana-chain.ts'
import type { Payment, TrueChain, Watched } from './chain.ts'
import { ask, askAll } from './json-rpc.ts'

type TrueBlock = {
  blockhash: string
  previousBlockhash: string
  transactions: readonly Reported[]
}

const final = { commitment: 'finalized' }
const whole = {
  ...final,
  encoding: 'json',
  transactionDetails: 'full',
  maxSupportedTransactionVersion: 0,
  rewards: false,
}

/** Only what is final is asked for: nothing else is ever booked, and slots that are not may be skipped yet. */
export function solanaChain(url: string, watched: Watched): TrueChain {
  return {
    async ends() {
      const slot = await ask<number>(url, 'getSlot', [final])
      return { head: slot, final: slot }
    },
    async hashAt(height) {
      const [slot] = await ask<number[]>(url, 'getBlocks', [height, height, final])
      return slot === undefined ? null : (await ask<TrueBlock>(url, 'getBlock', [slot, whole])).blockhash
    },
    async read(from, to) {
      const slots = await ask<number[]>(url, 'getBlocks', [from, to, final])
      const blocks = await askAll<TrueBlock>(
        url,
        'getBlock',
        slots.map((slot) => [slot, whole]),
      )
      const placed = blocks.map((block, place) => ({ ...block, height: slots[place] ?? -1 }))
      return {
        blocks: placed.map(({ height, blockhash, previousBlockhash }) => {
          return { height, hash: blockhash, parent_hash: previousBlockhash }
        }),
        paid: placed.flatMap((block) =>
          block.transactions.flatMap((reported) => paidBy(reported, block.height, watched)),
        ),
      }
    },
  }
}

function paidBy(reported: Reported, height: number, { addresses, contracts }: Watched): Payment[] {
  const [tx = ''] = reported.transaction.signatures
  return addresses.flatMap((address) =>
    contracts.flatMap((contract) => {
      const amount =
        contract === 'native' ? coinsTo(reported, address) : tokensTo(reported, { address, mint: contract })
      const payment = { height, tx, index: `${contract}:${address}`, address, contract }
      return amount > 0n ? [{ ...payment, amount: amount.toString() }] : []
    }),
  )
}
