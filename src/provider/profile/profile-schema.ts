import { z } from 'zod'
import { refuseIn } from '../../config/yaml-file.ts'
import { withdrawalStatuses } from '../../core/withdrawal-claim.ts'
import {
  amountField,
  assetField,
  itemPathSchema,
  listBefore,
  pathSchema,
  textField,
  timeField,
  wordField,
} from './field-schema.ts'

const callPath = z.string().regex(/^\/[^\s?#]*$/, 'must be the path of a call, which begins with /')
const parameter = z.string().min(1)

/**
 * The API specification names only the call; the defaults describe the paging of the project's own service.
 */
export const listSchema = z
  .strictObject({
    path: callPath.default('/v1/proxies/deposits'),
    query: z.record(z.string(), z.string()).default({}),
    /**
     * `since` asks again from the time of the last record; `link` follows the header `Link` with
     * `rel="next"` or, without one, the link at `next`.
     */
    pages: z.enum(['cursor', 'page', 'offset', 'since', 'link']).default('cursor'),
    order: z.enum(['newest-first', 'oldest-first']).default('newest-first'),
    parameters: z
      .strictObject({
        limit: parameter.default('limit'),
        cursor: parameter.default('cursor'),
        page: parameter.default('page'),
        offset: parameter.default('offset'),
      })
      .prefault({}),
    /** A service may return fewer. */
    limit: z.int().min(1).max(1000).default(100),
    firstPage: z.int().min(0).max(1).default(1),
    /** Null if the answer is the list itself. */
    items: pathSchema.nullable().default('data'),
    /** Missing, null or an empty text on the last page. */
    next: pathSchema.default('next_cursor'),
    /** Orders the list; default: `createdAt` of the record. */
    time: timeField('optional').optional(),
    /** Absent if the service cannot restrict records to those created or updated since a time. */
    since: z
      .strictObject({
        parameter,
        of: z.enum(['created', 'updated']),
        as: z.enum(['iso', 's', 'ms']).default('iso'),
      })
      .optional(),
    /**
     * A path with `{id}`, and the path of the record in the answer. Absent: records are read from lists
     * only.
     */
    one: z
      .preprocess(
        (value) => (typeof value === 'string' ? { path: value } : value),
        z.strictObject({
          path: callPath.refine((path) => path.includes('{id}'), 'must contain {id}'),
          record: pathSchema.optional(),
        }),
      )
      .optional(),
    /** Default: for ever. Older records do not count as missed. */
    keptDays: z.int().min(1).optional(),
  })
  .superRefine(({ pages, order, since }, context) => {
    if (pages !== 'since') return
    const refuse = refuseIn(context)
    if (since === undefined) refuse(['since'], 'is needed if pages are by since')
    if (order !== 'oldest-first') refuse(['order'], 'must be oldest-first if pages are by since')
  })

export type ListProfile = z.output<typeof listSchema>

const fieldName = z.string().min(1)

/** Null if the service does not list them. */
function listAt(path: string) {
  return listSchema.safeExtend({ path: callPath.default(path) }).nullable()
}

function addressFields(path: string) {
  return {
    /** Null if each record of the list is one address; those of one id are one owner. */
    addresses: pathSchema.nullable().default(path),
    network: textField('required').prefault('network'),
    address: textField('required').prefault('address'),
  }
}

const channels = z.strictObject({
  create: z
    .strictObject({
      path: callPath.default('/v1/channels'),
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

const walletPath = callPath.refine((path) => path.includes('{id}'), 'must contain {id}, the id of the wallet')

/** In base units of the asset in which wallets are credited, unless the amounts say otherwise. */
const withdrawals = z.strictObject({
  list: listSchema.safeExtend({ path: walletPath }),
  record: z.strictObject({
    /** Unique within the wallet. */
    id: textField('required'),
    status: wordField(withdrawalStatuses, 'required'),
    network: textField('required'),
    recipient: textField('required'),
    amount: amountField('required'),
    transaction: textField('optional').optional(),
    /** Of the status; if absent, the time of receipt counts. */
    occurredAt: timeField('required').optional(),
  }),
})

export type WithdrawalsProfile = z.output<typeof withdrawals>

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
  /** Absent if the service does not state the balance of a wallet: then the books are not compared with it. */
  balance: z.strictObject({ path: walletPath, amount: amountField('required') }).optional(),
  /** Absent if the service does not list the withdrawals of a wallet: then people book them. */
  withdrawals: withdrawals.optional(),
})

/** The defaults for creation follow the API specification, those for lists the project's own service. */
export const ownersSchema = z.strictObject({ channels: channels.prefault({}), wallets: wallets.prefault({}) })

/** `withdrawal`: the lists of withdrawals are read, or that of `wallet`. */
const eventMeanings = ['deposit', 'withdrawal', 'ignored'] as const

/** `ignored`: the record does not report a payment yet. */
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
  /** If the signature does not include one. */
  id: textField('optional').optional(),
  /** A list of events: the paths of `kind`, `record` and `occurredAt` start at each of them. */
  items: pathSchema.optional(),
  /**
   * Without it, every event is a deposit. An unlisted word is an `unknown_event`, unless `unlisted` says
   * otherwise.
   */
  kind: wordField(eventMeanings, 'required').optional(),
  unlisted: z.enum(['unknown_event', 'ignored']).default('unknown_event'),
  /** Of a withdrawal. */
  wallet: textField('optional').optional(),
  /** Without it, the payload, or the item, is the record. */
  record: pathSchema.optional(),
  /** If absent, the time of the record counts. */
  occurredAt: timeField('required').optional(),
})

const deposit = z.strictObject({
  network: textField('required').optional(),
  asset: assetField('required'),
  address: textField('required'),
  amount: amountField('required'),
  transaction: textField('optional').optional(),
  index: textField('optional').optional(),
})

/**
 * `network`, after translation, is `stable-wallet` if a StableWallet was credited. Paths such as `payouts.*.tx` name each
 * item of a list.
 */
const settlement = z
  .strictObject({
    network: textField('required', itemPathSchema).optional(),
    asset: assetField('required', itemPathSchema),
    /** The recipient, or the wallet's id. If absent, the record claims no delivery. */
    address: textField('required', itemPathSchema),
    amount: amountField('optional', itemPathSchema).optional(),
    transaction: textField('optional', itemPathSchema).optional(),
    /** In the delivered asset. */
    fee: amountField('optional', itemPathSchema).optional(),
  })
  .superRefine((fields, context) => {
    const list = listOf(fields)
    for (const { name, path } of pathsIn(fields))
      if (![list, null].includes(listBefore(path)))
        refuseIn(context)([name], `must name items of one list, ${list}, as the other fields do`)
  })

type PathFields = Readonly<Record<string, { paths: readonly string[]; decimals?: unknown } | undefined>>

function pathsIn(fields: PathFields): { name: string; path: string }[] {
  return Object.entries(fields).flatMap(([name, field]) =>
    [...(field?.paths ?? []), field?.decimals].flatMap((path) =>
      typeof path === 'string' ? [{ name, path }] : [],
    ),
  )
}

/** The path of the list whose items the paths name; null if they name none. */
export function listOf(fields: PathFields): string | null {
  return (
    pathsIn(fields)
      .map(({ path }) => listBefore(path))
      .find((list) => list !== null) ?? null
  )
}

/** In full, in the asset and on the network of the payment. */
const refund = z.strictObject({ transaction: textField('optional') })

const record = z.strictObject({
  id: textField('required'),
  /** Records with other words at these paths are ignored. */
  only: z.record(pathSchema, z.array(z.string()).min(1)).default({}),
  /** Without it, the address book determines the owner. */
  owner: z
    .strictObject({ kind: wordField(['channel', 'stable_wallet'], 'required'), id: textField('required') })
    .optional(),
  status: wordField(statusMeanings, 'required'),
  /** Lists are read back by it. */
  createdAt: timeField('optional').optional(),
  /** Of the current state; if absent, the time of receipt counts. */
  occurredAt: timeField('required').optional(),
  deposit,
  settlement: settlement.optional(),
  refund: refund.optional(),
})

export const profileSchema = z.strictObject({
  webhook: webhook.prefault({}),
  record,
  /** The service's names to ours; an unlisted name is used unchanged. */
  networks: z.record(z.string(), z.string().min(1)).default({}),
  /** The service's names to `network/symbol`, `network/contract`, a symbol or a contract. */
  assets: z.record(z.string(), z.string().min(1)).default({}),
  list: listSchema.prefault({}),
  owners: ownersSchema.prefault({ channels: {}, wallets: {} }),
})

export type Profile = z.output<typeof profileSchema>
export type SettlementProfile = z.output<typeof settlement>
