import { z } from 'zod'
import { amountField, assetField, pathSchema, textField, timeField, wordField } from './field-schema.ts'

const callPath = z.string().regex(/^\/[^\s?#]*$/, 'is no path of a call: it begins with /')
const parameter = z.string().min(1)

/**
 * How the service lists its deposits. The API specification names only the call. The defaults describe the paging of
 * the project's own service.
 */
export const listSchema = z
  .strictObject({
    path: callPath.default('/v1/proxies/deposits'),
    /** Sent with every page, for example a sort order. */
    query: z.record(z.string(), z.string()).default({}),
    /**
     * How one page leads to the next: by a cursor in the answer, by counting pages or records, by asking again from the
     * time of the last record, or by the header `Link` with `rel="next"`.
     */
    pages: z.enum(['cursor', 'page', 'offset', 'since', 'link']).default('cursor'),
    /** Order by the time of the records; `time` names the field. */
    order: z.enum(['newest-first', 'oldest-first']).default('newest-first'),
    parameters: z
      .strictObject({
        limit: parameter.default('limit'),
        cursor: parameter.default('cursor'),
        page: parameter.default('page'),
        offset: parameter.default('offset'),
      })
      .prefault({}),
    /** Records requested per page. A service may return fewer. */
    limit: z.int().min(1).max(1000).default(100),
    firstPage: z.int().min(0).max(1).default(1),
    /** Path of the records in the answer; null if the answer is the list itself. */
    items: pathSchema.nullable().default('data'),
    /** Path of the cursor of the next page; missing, null or an empty text on the last page. */
    next: pathSchema.default('next_cursor'),
    /** The time by which the list is ordered; default: `createdAt` of the record. */
    time: timeField('optional').optional(),
    /** Requests only records created, or updated, since a time; absent if the service does not support it. */
    since: z
      .strictObject({
        parameter,
        of: z.enum(['created', 'updated']),
        as: z.enum(['iso', 's', 'ms']).default('iso'),
      })
      .optional(),
    /**
     * The call for a single record: a path with `{id}`, and the path of the record in the answer if it is not the
     * answer itself. Absent: records are read from lists only.
     */
    one: z
      .preprocess(
        (value) => (typeof value === 'string' ? { path: value } : value),
        z.strictObject({
          path: callPath.refine((path) => path.includes('{id}'), 'names no {id}'),
          record: pathSchema.optional(),
        }),
      )
      .optional(),
    /** How many days records stay listed; default: for ever. Older records do not count as missed. */
    keptDays: z.int().min(1).optional(),
  })
  .superRefine(({ pages, order, since }, context) => {
    if (pages !== 'since') return
    const refuse = (path: string, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message })
    if (since === undefined) refuse('since', 'is needed if pages are by since')
    if (order !== 'oldest-first') refuse('order', 'must be oldest-first if pages are by since')
  })

export type ListProfile = z.output<typeof listSchema>

const fieldName = z.string().min(1)

/** Read like the list of deposits. Null if the service does not list them. */
function listAt(path: string) {
  return listSchema.safeExtend({ path: callPath.default(path) }).nullable()
}

/** Path of the list of deposit addresses, and the network and address of each. */
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
      /** Names of the request fields at the service. */
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
  /** Fields of a channel, in the answer to its creation and in the list. */
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
 * How channels and StableWallets are created and listed. The defaults for creation follow the API specification. It
 * does not mention lists, so their defaults follow the project's own service.
 */
export const ownersSchema = z.strictObject({ channels: channels.prefault({}), wallets: wallets.prefault({}) })

/** Meanings of an event: it carries the record of a deposit, or does not concern one. */
const eventMeanings = ['deposit', 'ignored'] as const

/** The states of a claim, and `ignored` for a record that does not report a payment yet. */
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
  /** The sender's event id, if the signature does not include one. */
  id: textField('optional').optional(),
  /** Without it, every event is a deposit. An unlisted word is an `unknown_event`, unless `unlisted` says otherwise. */
  kind: wordField(eventMeanings, 'required').optional(),
  unlisted: z.enum(['unknown_event', 'ignored']).default('unknown_event'),
  /** Path of the record in the payload; without it, the payload is the record. */
  record: pathSchema.optional(),
  /** Time of the event; if absent, the time of the record counts. */
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

/** The value of `network`, or its translation by `networks`, is `stable-wallet` if a StableWallet was credited. */
const settlement = z.strictObject({
  ...place,
  /** The recipient, or the wallet's id. If it is absent, the record does not claim a delivery. */
  address: textField('required'),
  amount: amountField('optional').optional(),
  transaction: textField('optional').optional(),
  /** In the delivered asset. */
  fee: amountField('optional').optional(),
})

/** How the payment was returned: in full, in its asset and on its network. */
const refund = z.strictObject({ transaction: textField('optional') })

const record = z.strictObject({
  id: textField('required'),
  /** A record is a deposit only if the value at each path is one of the listed words. Other records are ignored. */
  only: z.record(pathSchema, z.array(z.string()).min(1)).default({}),
  /** Without it, the address book determines the owner by the address. */
  owner: z
    .strictObject({ kind: wordField(['channel', 'stable_wallet'], 'required'), id: textField('required') })
    .optional(),
  status: wordField(statusMeanings, 'required'),
  /** Creation time of the record; lists are read back by it. */
  createdAt: timeField('optional').optional(),
  /** Time of the record's current state; if absent, the time of receipt counts. */
  occurredAt: timeField('required').optional(),
  deposit,
  settlement: settlement.optional(),
  refund: refund.optional(),
})

/** How to read a service's webhooks and records. */
export const profileSchema = z.strictObject({
  webhook: webhook.prefault({}),
  record,
  /** Maps the service's network names to ours. An unlisted name is used unchanged. */
  networks: z.record(z.string(), z.string().min(1)).default({}),
  /**
   * Maps the service's asset names to `network/symbol` or `network/contract` of the settings, or to a symbol or
   * contract.
   */
  assets: z.record(z.string(), z.string().min(1)).default({}),
  /** How deposits are listed. */
  list: listSchema.prefault({}),
  owners: ownersSchema.prefault({ channels: {}, wallets: {} }),
})

export type Profile = z.output<typeof profileSchema>
