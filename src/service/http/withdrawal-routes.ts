import { z } from 'zod'
import type { NetworkSettings } from '../../core/asset.ts'
import { assert } from '../../core/errors.ts'
import { pageOf, pageQuery } from '../../http/pages.ts'
import { stableAsset } from '../catalog.ts'
import { depositAddresses, findOwner, listOwners } from '../owners.ts'
import type { ServiceOwnerRow } from '../tables.ts'
import { withdrawalWriter } from '../transfers/withdrawal-record.ts'
import {
  createWithdrawal,
  getWithdrawal,
  listWithdrawals,
  type WithdrawalOutcome,
  walletBalance,
} from '../transfers/withdrawals.ts'
import { readPage } from './pages.ts'
import { notFound, refusal } from './problem.ts'
import { readNetwork, readRecipient, refuseOwnAddress } from './request-values.ts'
import { defineRoute, ofPage, ours } from './route.ts'
import { baseUnits, depositAddressSchema, idText, withdrawal } from './schemas.ts'

const stableWalletRequest = z.strictObject({ id: idText }).meta({ id: 'StableWalletRequest' })

const fields = z.strictObject({ id: idText, deposit_addresses: z.array(depositAddressSchema) })
const wrapped = z.strictObject({ stable_wallet: fields.meta({ id: 'StableWallet' }) })

const balance = z
  .strictObject({ asset: z.string(), decimals: z.int(), amount: baseUnits })
  .meta({ id: 'Balance', description: 'Base units of the asset. It can be withdrawn on every network.' })
const wrappedWithBalance = z.strictObject({
  stable_wallet: fields.extend({ balance }).meta({ id: 'StableWalletWithBalance' }),
})

/** Idempotent. */
const createStableWallet = defineRoute({
  method: 'post',
  path: '/v1/stable-wallets',
  scope: 'write',
  summary: 'Create a StableWallet',
  description: ofPage,
  body: stableWalletRequest,
  status: 201,
  answer: wrapped,
  refusals: [],
  run: async ({ owners, networks }, { body }) => {
    const rule = { forward_network: null, forward_asset: null, forward_recipient: null }
    const outcome = await owners.findOrCreate({ kind: 'stable_wallet', id: body.id, ...rule })
    assert(outcome.kind === 'found', 'a StableWallet has no recipient')
    return { stable_wallet: showWallet(outcome.owner, networks) }
  },
})

const retrieveStableWallet = defineRoute({
  method: 'get',
  path: '/v1/stable-wallets/{id}',
  scope: 'read',
  summary: 'Retrieve a StableWallet, with its balance',
  description: ours,
  parameters: z.strictObject({ id: idText }),
  status: 200,
  answer: wrappedWithBalance,
  refusals: ['not_found'],
  run: async ({ db, networks }, { parameters: { id } }) => {
    const [owner, held] = await Promise.all([findOwner(db, 'stable_wallet', id), walletBalance(db, id)])
    if (owner === undefined) throw notFound('StableWallet', id)
    const { symbol, decimals } = stableAsset
    const shown = { asset: symbol, decimals, amount: held.toString() }
    return { stable_wallet: { ...showWallet(owner, networks), balance: shown } }
  },
})

const listStableWallets = defineRoute({
  method: 'get',
  path: '/v1/stable-wallets',
  scope: 'read',
  summary: 'List StableWallets, the newest first',
  description: ours,
  query: pageQuery,
  status: 200,
  answer: pageOf(wrapped),
  refusals: ['cursor_invalid'],
  run: async ({ db, networks }, { query }) => {
    const { page, next_cursor } = await readPage('stable-wallets', query, (range) =>
      listOwners(db, 'stable_wallet', range),
    )
    return { data: page.map((owner) => ({ stable_wallet: showWallet(owner, networks) })), next_cursor }
  },
})

function showWallet(owner: ServiceOwnerRow, networks: readonly NetworkSettings[]) {
  return { id: owner.id, deposit_addresses: depositAddresses(owner, networks) }
}

const path = '/v1/stable-wallets/{id}/withdrawals'
const ofWallet = z.strictObject({ id: idText })

const withdrawalRequest = z
  .strictObject({
    id: idText,
    network: z.string().min(1).max(128),
    recipient: z.string().min(1).max(128),
    amount: z
      .string()
      .regex(/^[1-9]\d{0,30}$/, { error: 'must be a positive integer of base units, as a string' }),
  })
  .meta({
    id: 'WithdrawalRequest',
    description: 'The amount is in base units of the balance: USDC with 6 decimals, on every network.',
  })

/** Idempotent: the same request is paid once. */
const create = defineRoute({
  method: 'post',
  path,
  scope: 'write',
  summary: 'Withdraw from a StableWallet',
  description: ours,
  parameters: ofWallet,
  body: withdrawalRequest,
  status: 201,
  answer: withdrawal,
  refusals: [
    'not_found',
    'network_unknown',
    'asset_unknown',
    'address_invalid',
    'amount_inexact',
    'id_conflict',
    'balance_short',
  ],
  run: async ({ db, owners, networks }, { parameters: { id: wallet }, body }) => {
    const network = readNetwork(networks, { text: body.network, pointer: '/network' })
    const stated = { text: body.recipient, pointer: '/recipient' }
    const recipient = readRecipient(network, stated)
    if (await owners.isOwnAddress(recipient)) throw refuseOwnAddress(stated)
    const wanted = { wallet, id: body.id, network: network.name, recipient, amount: BigInt(body.amount) }
    const outcome = await createWithdrawal({ db, networks }, wanted)
    if ('withdrawal' in outcome) return withdrawalWriter(networks)(outcome.withdrawal)
    throw refuse(outcome, wallet)
  },
})

const list = defineRoute({
  method: 'get',
  path,
  scope: 'read',
  summary: 'List withdrawals from a StableWallet, the newest first',
  description: ours,
  parameters: ofWallet,
  query: pageQuery,
  status: 200,
  answer: pageOf(withdrawal),
  refusals: ['not_found', 'cursor_invalid'],
  run: async ({ db, networks }, { parameters: { id }, query }) => {
    const { page, next_cursor } = await readPage('withdrawals', query, ({ below: before, limit }) =>
      listWithdrawals(db, id, { before, limit }),
    )
    if (page.length === 0 && (await findOwner(db, 'stable_wallet', id)) === undefined)
      throw notFound('StableWallet', id)
    return { data: page.map(withdrawalWriter(networks)), next_cursor }
  },
})

const retrieve = defineRoute({
  method: 'get',
  path: `${path}/{withdrawal}`,
  scope: 'read',
  summary: 'Retrieve a withdrawal from a StableWallet',
  description: ours,
  parameters: ofWallet.extend({ withdrawal: idText }),
  status: 200,
  answer: withdrawal,
  refusals: ['not_found'],
  run: async ({ db, networks }, { parameters: { id: wallet, withdrawal: id } }) => {
    const row = await getWithdrawal(db, { wallet, id })
    if (row === null) throw notFound('withdrawal', id)
    return withdrawalWriter(networks)(row)
  },
})

export const walletRoutes = [createStableWallet, listStableWallets, retrieveStableWallet]

export const withdrawalRoutes = [create, list, retrieve]

type WithdrawalRefusal = Exclude<WithdrawalOutcome, { withdrawal: unknown }>

function refuse(outcome: WithdrawalRefusal, wallet: string) {
  const { symbol } = stableAsset
  if (outcome.kind === 'wallet_unknown') return notFound('StableWallet', wallet)
  if (outcome.kind === 'conflict') {
    return refuseField('id_conflict', 'id', 'is used by another withdrawal of this StableWallet')
  }
  if (outcome.kind === 'asset_unknown') return refuseField('asset_unknown', 'network', `has no ${symbol}`)
  return outcome.kind === 'balance_short'
    ? refuseField('balance_short', 'amount', `exceeds the balance of ${outcome.balance}`)
    : refuseField(
        'amount_inexact',
        'amount',
        `has more decimals than ${symbol} on this network (${outcome.decimals})`,
      )
}

function refuseField(
  code: 'id_conflict' | 'balance_short' | 'asset_unknown' | 'amount_inexact',
  field: string,
  detail: string,
) {
  return refusal(code, `${field} ${detail}`, { errors: [{ pointer: `/${field}`, detail }] })
}
