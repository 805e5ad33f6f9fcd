import { pino } from 'pino'
import { type Address, type NetworkName, toTxId } from '../../../src/core/asset.ts'
import { convertDeposits } from '../../../src/service/deposits/convert-deposits.ts'
import { openKeyring } from '../../../src/service/keyring/keyring.ts'
import type {
  NetworkClient,
  SignedTransferOutcome,
  TransferOrder,
} from '../../../src/service/network/port.ts'
import { createRetryBackoff } from '../../../src/service/running/loop.ts'
import { settleTransfers } from '../../../src/service/transfers/settle-transfers.ts'
import { dueForwards, dueRefunds, signTransfers } from '../../../src/service/transfers/work-network.ts'
import { type Book, openBook } from '../book.ts'
import { seed, unreachableNetworks } from '../fixtures.ts'

const mainnet = 'mainnet' as NetworkName
export const recipient = '0x00000000000000000000000000000000000000aa' as Address
const terms = { feeBasisPoints: 0, spreadBasisPoints: 0 }

/** A chain whose answers a test decides, the time, and the service's database. Nothing runs by itself. */
export async function openHandMade() {
  const book = await openBook()
  const keyring = openKeyring(seed)
  const chain = {
    now: 0,
    outcome: { kind: 'open', known: true } as SignedTransferOutcome,
    asked: [] as string[],
    numbers: 0,
  }
  const network = handMade(chain)
  const backoff = createRetryBackoff(() => chain.now)
  const log = pino({ level: 'silent' })
  const work = { ...book, keyring, network, backoff, log }
  const fixed = { current: () => ({ 'ETH/USDC': '3000' }), refresh: () => Promise.resolve() }
  return {
    ...book,
    chain,
    network,
    work,
    prices: fixed,
    convert: () => convertDeposits({ ...book, terms, prices: fixed }, mainnet),
    /** Signs what is due and sees how it ends; returns how many were signed. */
    round: async () => {
      const signed = await signTransfers(work, [...(await dueForwards(work)), ...(await dueRefunds(work))])
      await settleTransfers(work)
      return signed
    },
    channel: (id: string) => openChannel(book, id),
    find: (id: string) =>
      book.db.selectFrom('service.deposit').selectAll().where('id', '=', id).executeTakeFirstOrThrow(),
  }
}

let payments = 0

/** A new channel on the network itself, and the final payment of coins to it. */
async function openChannel(book: Book, id: string) {
  const rule = { forward_network: mainnet, forward_asset: 'USDC', forward_recipient: recipient }
  const { branch, evm_address: address } = await book.keep({ kind: 'channel', id, ...rule })
  payments += 1
  await book.record([{ ...book.payment(payments, true), address }], BigInt(payments))
  const deposit = book.db.selectFrom('service.deposit').select('id').where('owner_id', '=', id)
  return { branch, address, id: (await deposit.executeTakeFirstOrThrow()).id }
}

type Chain = { now: number; outcome: SignedTransferOutcome; asked: string[]; numbers: number }

function handMade(chain: Chain): NetworkClient {
  const settings = unreachableNetworks.find(({ name }) => name === mainnet)
  const position = { finalHeight: 1n, finalHash: null, seenHeight: 1n, seenHash: null }
  const draft = async (order: TransferOrder) => {
    chain.asked.push('draft')
    return {
      amount: order.amount,
      sign: async (nonce: bigint | null) => {
        chain.numbers += 1
        const transaction = toTxId(`0x${chain.numbers.toString(16).padStart(64, '0')}`)
        return { transaction, bytes: Uint8Array.of(2), nonce, expiresHeight: null }
      },
    }
  }
  const parts: Partial<NetworkClient> = {
    ...(settings === undefined ? {} : { settings }),
    scan: () => Promise.resolve({ payments: [], position, more: false }),
    draft,
    gasLack: () => Promise.resolve(0n),
    redraft: () => Promise.resolve(null),
    send: async () => {
      chain.asked.push('send')
    },
    nextNonce: () => Promise.resolve(1000n),
    outcome: () => Promise.resolve(chain.outcome),
    balance: () => Promise.resolve(10n ** 30n),
  }
  return parts as NetworkClient
}
