import { z } from 'zod'

/** Where a value may be in an answer: names joined by dots. The first path that leads to something counts. */
const paths = z.array(z.string().regex(/^[^.\s]+(\.[^.\s]+)*$/, 'is no path: names joined by dots')).min(1)

const callPath = z.string().regex(/^\/\S*$/, 'is no path of a call: it begins with /')
const fieldName = z.string().min(1)

/** Lists come in pages that name the next one, or whole where `next` leads to nothing. */
const list = z.strictObject({
  path: callPath,
  items: paths.prefault(['data']),
  next: paths.prefault(['next_cursor']),
  parameters: z
    .strictObject({ limit: fieldName.default('limit'), cursor: fieldName.default('cursor') })
    .prefault({}),
  limit: z.int().min(1).max(1000).default(100),
})

/** Of the objects that `addresses` leads to. */
const addressFields = { network: paths.prefault(['network']), address: paths.prefault(['address']) }

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
  /** Null where the service does not list its channels. */
  list: list.nullable().prefault({ path: '/v1/channels' }),
  /** Of a channel, in the answer to its creation and in the list alike. */
  record: z
    .strictObject({
      id: paths.prefault(['id']),
      addresses: paths.prefault(['addresses']),
      ...addressFields,
      forwardNetwork: paths.prefault(['forward_network']),
      forwardAsset: paths.prefault(['forward_asset_symbol']),
      forwardRecipient: paths.prefault(['forward_recipient']),
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
  list: list.nullable().prefault({ path: '/v1/stable-wallets' }),
  record: z
    .strictObject({
      id: paths.prefault(['stable_wallet.id']),
      addresses: paths.prefault(['stable_wallet.deposit_addresses']),
      ...addressFields,
    })
    .prefault({}),
})

/**
 * How channels and StableWallets are created and listed. Creation and its answers are by default those of the
 * interface; the lists, of which the interface says nothing, those of the project's own service.
 */
export const ownersSchema = z.strictObject({ channels: channels.prefault({}), wallets: wallets.prefault({}) })

export type OwnersProfile = z.output<typeof ownersSchema>
