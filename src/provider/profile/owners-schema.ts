import { z } from 'zod'
import { textField } from './field-schema.ts'
import { listSchema } from './list-schema.ts'
import { pathSchema } from './path.ts'

const callPath = z.string().regex(/^\/[^\s?#]*$/, 'is no path of a call: it begins with /')
const fieldName = z.string().min(1)

/** Read like the list of deposits. Null where the service does not list them. */
function listAt(path: string) {
  return listSchema.safeExtend({ path: callPath.default(path) }).nullable()
}

/** Where the list of deposit addresses is, and of each of them its network and address. */
function addressFields(path: string) {
  return {
    addresses: pathSchema.default(path),
    network: textField('required').prefault('network'),
    address: textField('required').prefault('address'),
  }
}

const channels = z.strictObject({
  create: z
    .strictObject({
      path: callPath.default('/v1/channels'),
      /** How the service calls what is asked for. */
      body: z
        .strictObject({
          id: fieldName.default('id'),
          network: fieldName.default('forward_network'),
          asset: fieldName.default('forward_asset'),
          recipient: fieldName.default('forward_recipient'),
        })
        .prefault({}),
    })
    .prefault({}),
  list: listAt('/v1/channels').prefault({}),
  /** Of a channel, in the answer to its creation and in the list alike. */
  record: z
    .strictObject({
      id: textField('required').prefault('id'),
      ...addressFields('addresses'),
      forwardNetwork: textField('required').prefault('forward_network'),
      forwardAsset: textField('required').prefault('forward_asset_symbol'),
      forwardRecipient: textField('required').prefault('forward_recipient'),
    })
    .prefault({}),
})

const wallets = z.strictObject({
  create: z
    .strictObject({
      path: callPath.default('/v1/stable-wallets'),
      body: z.strictObject({ id: fieldName.default('id') }).prefault({}),
    })
    .prefault({}),
  list: listAt('/v1/stable-wallets').prefault({}),
  record: z
    .strictObject({
      id: textField('required').prefault('stable_wallet.id'),
      ...addressFields('stable_wallet.deposit_addresses'),
    })
    .prefault({}),
})

/**
 * How channels and StableWallets are created and listed. Creation and its answers are by default those of the
 * interface; the lists, of which the interface says nothing, those of the project's own service.
 */
export const ownersSchema = z.strictObject({ channels: channels.prefault({}), wallets: wallets.prefault({}) })
