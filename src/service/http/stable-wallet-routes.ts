import { z } from 'zod'
import type { NetworkSettings } from '../../chain/port.ts'
import { assert } from '../../core/errors.ts'
import { stableAsset } from '../catalog.ts'
import { depositAddresses, findOwner, listOwners } from '../owners.ts'
import type { ServiceOwnerRow } from '../tables.ts'
import { walletBalance } from '../transfers/withdrawals.ts'
import { refusal } from './problem.ts'
import { readPage } from './read-page.ts'
import { defineRoute } from './route.ts'
import { baseUnits, depositAddressSchema, idText, pageOf, pageQuery } from './schemas.ts'

const stableWalletRequest = z.strictObject({ id: idText }).meta({ id: 'StableWalletRequest' })

const fields = z.strictObject({ id: idText, deposit_addresses: z.array(depositAddressSchema) })
const wrapped = z.strictObject({ stable_wallet: fields.meta({ id: 'StableWallet' }) })

const balance = z
  .strictObject({ asset: z.string(), decimals: z.int(), amount: baseUnits })
  .meta({ id: 'Balance', description: 'Base units of the asset. It can be withdrawn on every network.' })
const wrappedWithBalance = z.strictObject({
  stable_wallet: fields.extend({ balance }).meta({ id: 'StableWalletWithBalance' }),
})

/** The same request again gets the same answer. */
const createStableWallet = defineRoute({
  method: 'post',
  path: '/v1/stable-wallets',
  scope: 'write',
  summary: 'Create a StableWallet',
  origin: 'page',
  body: stableWalletRequest,
  status: 201,
  answer: wrapped,
  refusals: [],
  run: async ({ owners, networks }, { body }) => {
    const rule = { forward_network: null, forward_asset: null, forward_recipient: null }
    const kept = await owners.keep({ kind: 'stable_wallet', id: body.id, ...rule })
    assert(kept.kind === 'kept', 'a StableWallet has no recipient')
    return { stable_wallet: showWallet(kept.owner, networks) }
  },
})

const retrieveStableWallet = defineRoute({
  method: 'get',
  path: '/v1/stable-wallets/{id}',
  scope: 'read',
  summary: 'Retrieve a StableWallet, with its balance',
  origin: 'ours',
  parameters: z.strictObject({ id: idText }),
  status: 200,
  answer: wrappedWithBalance,
  refusals: ['not_found'],
  run: async ({ db, networks }, { parameters: { id } }) => {
    const [owner, held] = await Promise.all([findOwner(db, 'stable_wallet', id), walletBalance(db, id)])
    if (owner === undefined) throw refusal('not_found', `there is no StableWallet ${id}`)
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
  origin: 'ours',
  query: pageQuery,
  status: 200,
  answer: pageOf(wrapped),
  refusals: ['cursor_invalid'],
  run: async ({ db, networks }, { query }) => {
    const { page, next_cursor } = await readPage('stable-wallets', query, (reading) =>
      listOwners(db, 'stable_wallet', reading),
    )
    return { data: page.map((owner) => ({ stable_wallet: showWallet(owner, networks) })), next_cursor }
  },
})

export const stableWalletRoutes = [createStableWallet, listStableWallets, retrieveStableWallet]

function showWallet(owner: ServiceOwnerRow, networks: readonly NetworkSettings[]) {
  return { id: owner.id, deposit_addresses: depositAddresses(owner, networks) }
}
