import type { Address } from '../../src/core/asset.ts'
import type { ServiceDepositRow } from '../../src/service/tables.ts'
import { at } from '../support/evidence.ts'

export const usdc = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913' as Address
export const mint = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v' as Address
export const hash = `0x${'ab'.repeat(32)}`

/** A row of the default service: 5 USDC on Base, forwarded to Solana. */
export const settledRow = {
  id: 'dep_1',
  owner_kind: 'channel',
  owner_id: 'shop',
  status: 'settled',
  network: 'base',
  address: '0x00000000000000000000000000000000000000aa',
  asset: 'USDC',
  contract: usdc,
  decimals: 6,
  amount: '5000000',
  transaction: hash,
  index: '3',
  sender: '0x00000000000000000000000000000000000000cc',
  block: 17n,
  block_at: at(0),
  to_network: 'solana',
  to_address: '4uQeVj5tqViQh7yWWGStvkEG1Zmhx6uasJtWCJziofM',
  to_asset: 'USDC',
  to_contract: mint,
  to_decimals: 6,
  to_amount: '4990000',
  to_transaction: '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW',
  to_at: at(2),
  fee: '10000',
  rate: '1',
  reason: null,
  refund_address: null,
  refund_amount: null,
  created_at: at(0),
  updated_at: at(3),
} as unknown as ServiceDepositRow
