import { z } from 'zod'
import { depositAddresses, keepOwner } from '../owners.ts'
import { defineRoute } from './route.ts'
import { depositAddressSchema, idText } from './schemas.ts'

const stableWalletRequest = z.strictObject({ id: idText }).meta({ id: 'StableWalletRequest' })

const stableWallet = z
  .strictObject({ id: idText, deposit_addresses: z.array(depositAddressSchema) })
  .meta({ id: 'StableWallet' })

/** The same request again gets the same answer. */
const createStableWallet = defineRoute({
  method: 'post',
  path: '/v1/stable-wallets',
  scope: 'write',
  summary: 'Create a StableWallet',
  origin: 'page',
  body: stableWalletRequest,
  status: 201,
  answer: z.strictObject({ stable_wallet: stableWallet }),
  refusals: [],
  run: async ({ db, keyring, networks }, { body }) => {
    const rule = { forward_network: null, forward_asset: null, forward_recipient: null }
    const owner = await keepOwner(db, keyring, { kind: 'stable_wallet', id: body.id, ...rule })
    return { stable_wallet: { id: owner.id, deposit_addresses: depositAddresses(owner, networks) } }
  },
})

export const stableWalletRoutes = [createStableWallet]
