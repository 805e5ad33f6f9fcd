import { z } from 'zod'
import { amountField, assetField, textField, timeField, wordField } from './field-schema.ts'
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

/** What an event may be to us: of a deposit, whose record it carries, or nothing that concerns one. */
const eventMeanings = ['deposit', 'ignored'] as const

/** The states of a claim, and `ignored` for a record that tells of no payment yet. */
const statusMeanings = [
  'observed',
  'confirmed',
  'settling',
  'settled',
  'held',
  'refunded',
  'failed',
  'ignored',
] as const

const webhook = z.strictObject({
  /** The sender's id of the event, where the signature carries none. */
  id: textField('optional').optional(),
  /** Without it, every event is of a deposit. A word that is not listed is an `unknown_event`, unless told otherwise. */
  kind: wordField(eventMeanings, 'required').optional(),
  unlisted: z.enum(['unknown_event', 'ignored']).default('unknown_event'),
  /** Where the record is in the payload; without it, the payload is the record. */
  record: pathSchema.optional(),
  /** When the event came to be; without it, or where it is absent, the time of the record counts. */
  occurredAt: timeField('required').optional(),
})

const place = { network: textField('required').optional(), asset: assetField('required') }

const deposit = z.strictObject({
  ...place,
  address: textField('required'),
  amount: amountField('required'),
  transaction: textField('optional').optional(),
  index: textField('optional').optional(),
})

/** `network` leads to, or `networks` translates into, `stable-wallet` where a StableWallet is credited. */
const settlement = z.strictObject({
  ...place,
  /** The recipient, or the wallet's id. Where it is absent, nothing is said of a delivery. */
  address: textField('required'),
  amount: amountField('optional').optional(),
  transaction: textField('optional').optional(),
  /** In the asset delivered. */
  fee: amountField('optional').optional(),
})

/** How the payment went back: whole, in its asset and on its network. */
const refund = z.strictObject({ transaction: textField('optional') })

const record = z.strictObject({
  id: textField('required'),
  /** Only records of which each path leads to one of its words are of deposits; the others are passed over. */
  only: z.record(pathSchema, z.array(z.string()).min(1)).default({}),
  /** Without it, the owner is whoever has the address in the address book. */
  owner: z
    .strictObject({ kind: wordField(['channel', 'stable_wallet'], 'required'), id: textField('required') })
    .optional(),
  status: wordField(statusMeanings, 'required'),
  /** When the record was made: lists are read back by it. */
  createdAt: timeField('optional').optional(),
  /** When it came to be as it is; where that is absent, the time of receipt counts. */
  occurredAt: timeField('required').optional(),
  deposit,
  settlement: settlement.optional(),
  refund: refund.optional(),
})

/** How a service's webhooks and records are read. */
export const profileSchema = z.strictObject({
  webhook: webhook.prefault({}),
  record,
  /** Their word for a network to ours. One that is not listed is taken as it is. */
  networks: z.record(z.string(), z.string().min(1)).default({}),
  /** Their word for an asset to `network/symbol` or `network/contract` of the settings, or to a symbol or contract. */
  assets: z.record(z.string(), z.string().min(1)).default({}),
  /** How deposits are listed. */
  list: listSchema.prefault({}),
  owners: ownersSchema.prefault({ channels: {}, wallets: {} }),
})

export type Profile = z.output<typeof profileSchema>
